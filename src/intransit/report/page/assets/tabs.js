// The tab of the address, page.html#Legacy, is the one that is open.
(() => {
  const picks = [...document.querySelectorAll(".pick")];
  const at = () => {
    try {
      return decodeURIComponent(location.hash.slice(1));
    } catch {
      return "";
    }
  };
  const show = () => {
    (picks.find((pick) => pick.dataset.at === at()) ?? picks[0]).checked = true;
  };
  for (const pick of picks) {
    pick.addEventListener("change", () => {
      location.hash = encodeURIComponent(pick.dataset.at);
    });
  }
  addEventListener("hashchange", show);
  if (location.hash) show();
})();
