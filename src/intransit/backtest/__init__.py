"""Backtests: a ladder of models that forecast a table's latest games, without looking ahead."""

from intransit.backtest.forecasters import Forecaster
from intransit.backtest.result import LADDER, Backtest, Coverage, Forecasts, Reliability, Rung
from intransit.backtest.run import backtest

__all__ = [
    "LADDER",
    "Backtest",
    "Coverage",
    "Forecaster",
    "Forecasts",
    "Reliability",
    "Rung",
    "backtest",
]
