// The findings as the page carries them: whole thousandths, pairs i < j only.

const content = JSON.parse(document.getElementById("findings").textContent);
const names = content.names;
const times = content.times;
const nItems = names.length;
const nTimes = times.length;
const nPairs = (nItems * (nItems - 1)) / 2;
const dated = nTimes > 1;
const UNKNOWN = 65535;

// base64 -> shares, NaN where a number is not there.
function unpack(text) {
  const bytes = atob(text || "");
  const shares = new Float32Array(bytes.length / 2);
  for (let k = 0; k < shares.length; k += 1) {
    const whole = bytes.charCodeAt(2 * k) + 256 * bytes.charCodeAt(2 * k + 1);
    shares[k] = whole === UNKNOWN ? NaN : whole / 1000;
  }
  return shares;
}

// The place of the pair (i, j), i < j, in the order of rows of the upper triangle.
function pairPlace(i, j) {
  return i * nItems - (i * (i + 1)) / 2 + (j - i - 1);
}

// A table of pairs at times, read from either side: what i has, j lacks.
function pairsOverTime(middle, low, high) {
  const [chances, lows, highs] = [unpack(middle), unpack(low), unpack(high)];
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

const strengthShares = ["strengths", "strengthsLow", "strengthsHigh"].map((key) => unpack(content[key]));

function strength(t, i) {
  const [middle, low, high] = strengthShares.map((values) => values[i * nTimes + t]);
  return { chance: middle, low, high };
}

// Whether an item was being compared about a time.
function present(t, i) {
  return content.present[t * nItems + i] === "1";
}

const met = new Map(content.games.map(([i, j, games, wins]) => [pairPlace(i, j), { games, wins }]));

// Games of a pair, and how many of them i won.
function record(i, j) {
  const found = met.get(i < j ? pairPlace(i, j) : pairPlace(j, i));
  if (!found) return { games: 0, wins: 0 };
  return { games: found.games, wins: i < j ? found.wins : found.games - found.wins };
}

// A Map, not an object: an item may be called "__proto__".
const placeOf = new Map(names.map((name, place) => [name, place]));

// Items by strength at a time, the strongest first.
function byStrength(t) {
  const order = names.map((_, place) => place);
  const worth = (i) => (Number.isNaN(strength(t, i).chance) ? -1 : strength(t, i).chance);
  return order.sort((a, b) => worth(b) - worth(a) || a - b);
}
