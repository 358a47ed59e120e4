"""Backtests: a ladder of models that forecast a table's latest games, without looking ahead."""

from intransit.backtest.forecasters import LADDER, Forecaster
from intransit.backtest.result import Backtest, Coverage, Forecasts, Reliability, Rung
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
