// The findings as the page carries them: parts of ten thousand, pairs i < j only.
// Chances are cut off, and read as the middle of what was cut; ends are rounded outwards.

const content = JSON.parse(document.getElementById("findings").textContent);
const names = content.names;
const times = content.times;
const nItems = names.length;
const nTimes = times.length;
const nPairs = (nItems * (nItems - 1)) / 2;
const dated = nTimes > 1;
const UNKNOWN = 65535;
const PARTS = 10000;
const CUT = 0.5;

// base64 -> shares, NaN where a number is not there.
function unpack(text, shift = 0) {
  const bytes = atob(text || "");
  const shares = new Float64Array(bytes.length / 2);
  for (let k = 0; k < shares.length; k += 1) {
    const whole = bytes.charCodeAt(2 * k) + 256 * bytes.charCodeAt(2 * k + 1);
    shares[k] = whole === UNKNOWN ? NaN : (whole + shift) / PARTS;
  }
  return shares;
}

// The place of the pair (i, j), i < j, in the order of rows of the upper triangle.
function pairPlace(i, j) {
  return i * nItems - (i * (i + 1)) / 2 + (j - i - 1);
}

// A table of pairs at times, read from either side: what i has, j lacks.
function pairsOverTime(middle, low, high) {
  const [chances, lows, highs] = [unpack(middle, CUT), unpack(low), unpack(high)];
  return (t, i, j) => {
    if (i === j) return { chance: 0.5, low: 0.5, high: 0.5 };
    const at = t * nPairs + (i < j ? pairPlace(i, j) : pairPlace(j, i));
    if (i < j) return { chance: chances[at], low: lows[at], high: highs[at] };
    return { chance: 1 - chances[at], low: 1 - highs[at], high: 1 - lows[at] };
  };
}

const readPast = pairsOverTime(content.chances, content.low, content.high);
const readFuture = pairsOverTime(content.futureChances, content.futureLow, content.futureHigh);

// The chance of i over j at a time; times after the last one are forecasts.
function reading(t, i, j) {
  return t < nTimes ? readPast(t, i, j) : readFuture(t - nTimes, i, j);
}

const strengthShares = [unpack(content.strengths, CUT), unpack(content.strengthsLow), unpack(content.strengthsHigh)];

function strength(t, i) {
  const [middle, low, high] = strengthShares.map((values) => values[i * nTimes + t]);
  return { chance: middle, low, high };
}

// Whether an item was being compared about a time.
function present(t, i) {
  return content.present[t * nItems + i] === "1";
}

const met = new Map(content.games.map(([i, j, games, wins, ties]) => [pairPlace(i, j), { games, wins, ties }]));

// Games of a pair, how many of them i won, and how many were ties.
function record(i, j) {
  const found = met.get(i < j ? pairPlace(i, j) : pairPlace(j, i));
  if (!found) return { games: 0, wins: 0, ties: 0 };
  const { games, wins, ties } = found;
  return { games, wins: i < j ? wins : games - wins - ties, ties };
}

// The record of a pair in words; ties are no wins.
function recordWords(i, j) {
  const { games, wins, ties } = record(i, j);
  if (!games) return "They have not met: this is a forecast.";
  const half = Number.isInteger(wins) ? "" : " (a tie as half)";
  const tied = ties ? `, ${whole(ties)} tied` : "";
  return `${count(games, "game")}: ${whole(wins)} won, ${whole(games - wins - ties)} lost${tied}${half}.`;
}

// A Map, not an object: an item may be called "__proto__".
const placeOf = new Map(names.map((name, place) => [name, place]));

// Items by strength at a time, the strongest first.
function byStrength(t) {
  const order = names.map((_, place) => place);
  const worth = (i) => (Number.isNaN(strength(t, i).chance) ? -1 : strength(t, i).chance);
  return order.sort((a, b) => worth(b) - worth(a) || a - b);
}
