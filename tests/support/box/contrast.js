// Every text that is seen, against what really lies under its middle: the elements there from top to bottom, each with
// its own alpha. WCAG 2: 4.5:1, large text (24 px, or 18.66 px and bold) 3:1.
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.canvas.width = canvas.canvas.height = 1;
  const parse = (color, more = 1) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = "#000"; canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, (a / 255) * more];
  };
  const over = (top, below) => {
    const a = top[3] + below[3] * (1 - top[3]);
    return a === 0 ? [0, 0, 0, 0] : [...[0, 1, 2].map((i) => (top[i] * top[3] + below[i] * below[3] * (1 - top[3])) / a), a];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const paint = (element) => {
    const style = getComputedStyle(element);
    const alpha = Number(style.opacity);
    if (element instanceof SVGElement && element.tagName !== "svg") {
      if (["text", "g", "line", "polyline"].includes(element.tagName) || style.fill === "none") return [0, 0, 0, 0];
      return parse(style.fill, Number(style.fillOpacity) * alpha);
    }
    return parse(style.backgroundColor, alpha);
  };
  const wrong = [];
  let looked = 0;
  for (const above of document.querySelectorAll(".testing, #toast")) above.style.pointerEvents = "auto"; // else nobody finds them
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.data.trim() || !parent || ["SCRIPT", "STYLE", "OPTION"].includes(parent.tagName)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getClientRects()[0];
    if (!box || box.width === 0) continue;
    const there = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const at = there.indexOf(parent);
    if (at < 0) continue; // scrolled away, or under a dialog
    const style = getComputedStyle(parent);
    let below = [0, 0, 0, 0];
    for (const element of there.slice(at)) { below = over(below, paint(element)); if (below[3] > 0.999) break; }
    below = over(below, parse(getComputedStyle(document.body).backgroundColor));
    const ink = parent instanceof SVGElement ? parse(style.fill, Number(style.fillOpacity) * Number(style.opacity)) : parse(style.color, Number(style.opacity));
    const [a, b] = [light(over(ink, below)), light(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize) * (parent.ownerSVGElement ? parent.getScreenCTM().a : 1);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    looked += 1;
    if (ratio < (large ? 3 : 4.5) - 0.01) wrong.push(`${node.data.trim().slice(0, 40)} (${parent.tagName}.${parent.className.baseVal ?? parent.className}): ${ratio.toFixed(2)} ${ink.map(Math.round)} on ${below.map(Math.round)}`);
  }
  return { wrong, looked };
}
