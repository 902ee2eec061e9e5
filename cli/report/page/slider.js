// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reference and distorted in one frame, divided by a line that follows the pointer, a finger or the arrow keys; and the
// same in a window of its own, in full size and in motion.

const large = { dialog: document.getElementById("large"), slider: null, scene: null, videos: null, isFit: false };

/** One upon the other, the first one left of the line. @return {{element, stack, layers}} */
function sliderOf(layers, name) {
  const element = document.createElement("div"), stack = document.createElement("div"), line = document.createElement("div");
  const label = document.createElement("label"), range = document.createElement("input"), words = document.createElement("span");
  stack.className = "stack";
  line.className = "cut";
  const tags = ["reference", "distorted"].map((text) => {
    const tag = document.createElement("span");
    tag.className = `tag ${text}`;
    tag.textContent = text;
    return tag;
  });
  [line, ...tags].forEach((each) => each.setAttribute("aria-hidden", "true"));
  Object.assign(range, { type: "range", min: 0, max: 100, step: 1, value: 50 });
  words.textContent = "Reference left of the line, distorted right";
  label.className = "cut-at";
  label.append(words, range);
  const move = () => {
    stack.style.setProperty("--cut", `${range.value}%`);
    range.setAttribute("aria-valuetext", `${range.value} % of ${name} is the reference`);
  };
  range.addEventListener("input", move);
  const follow = (event) => {
    const box = stack.getBoundingClientRect();
    range.value = String(Math.round((100 * (event.clientX - box.left)) / box.width));
    move();
  };
  stack.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    stack.setPointerCapture(event.pointerId);
    event.preventDefault();
    follow(event);
  });
  stack.addEventListener("pointermove", (event) => { if (stack.hasPointerCapture(event.pointerId)) follow(event); });
  stack.append(...layers, line, ...tags);
  element.className = "slider";
  element.append(stack, label);
  move();
  return { element, stack, layers };
}

function buttonOf(text, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", act);
  return button;
}

/** As wide as its pixels are, or as fits into the window. */
function sizeLarge() {
  const place = document.getElementById("large-place"), { stack, layers } = large.slider;
  const width = layers[0].videoWidth || layers[0].naturalWidth || 0, height = layers[0].videoHeight || layers[0].naturalHeight || 0;
  if (!width) return;
  const fitting = Math.min(place.clientWidth, ((place.clientHeight - 48) * width) / height);
  stack.style.width = `${Math.max(1, Math.floor(large.isFit ? fitting : width / devicePixelRatio))}px`;
}

function putLarge(layers) {
  const name = large.scene.dataset.name;
  large.slider = sliderOf(layers, name);
  document.getElementById("large-place").replaceChildren(large.slider.element);
  sizeLarge();
}

function showPictures() {
  stopClips();
  const pictures = [...large.scene.querySelectorAll(".slider img")].map((each) => each.cloneNode());
  pictures.forEach((each) => { each.loading = "eager"; });
  putLarge(pictures);
  pictures[0].decode().then(() => {
    if (large.slider.layers !== pictures) return;
    sizeLarge();
    const { naturalWidth, naturalHeight } = pictures[0], { width, height } = large.scene.dataset;
    document.getElementById("large-note").textContent = naturalWidth < Number(width)
      ? `Reduced to ${naturalWidth}x${naturalHeight}; report --full-size N keeps more of the pictures at ${width}x${height}.`
      : `Full resolution, ${naturalWidth}x${naturalHeight}.`;
  }, () => {}); // closed before it was there
}

function openLarge(scene, isMoving) {
  large.scene = scene;
  document.getElementById("large-title").textContent = `${scene.querySelector("h3").textContent}: ${scene.dataset.name}`;
  document.querySelectorAll("#large .moving").forEach((each) => { each.hidden = !scene.dataset.clips; });
  large.dialog.showModal();
  showPictures();
  if (isMoving) playClips();
}

// ---- clips

function addressOf(which) {
  const { clips, [which]: name } = large.scene.dataset;
  return clips === "link" ? name : URL.createObjectURL(new Blob([bytesOf(name)], { type: "video/mp4" }));
}

function videoOf(which) {
  const video = document.createElement("video");
  Object.assign(video, { muted: true, playsInline: true, preload: "auto", src: addressOf(which) });
  video.setAttribute("aria-label", which);
  return video;
}

function stopClips() {
  if (!large.videos) return;
  large.videos.forEach((each) => {
    each.pause();
    URL.revokeObjectURL(each.src);
    each.removeAttribute("src");
  });
  large.videos = null;
  showClipState();
}

function clipRate() {
  return Number(large.scene.dataset.rate) || 25;
}

function showClipState() {
  const distorted = large.videos && large.videos[1];
  document.getElementById("large-play").textContent = distorted && !distorted.paused ? "Pause" : "Play";
  document.getElementById("large-frame").textContent = !distorted ? ""
    : `frame ${Number(large.scene.dataset.first) + Math.floor(distorted.currentTime * clipRate() + 0.01)}`;
}

/** Both at the same frame, again and again while they play. */
function holdTogether() {
  if (!large.videos) return;
  const [reference, distorted] = large.videos;
  showClipState();
  if (distorted.paused) return;
  if (Math.abs(reference.currentTime - distorted.currentTime) > 1 / clipRate()) reference.currentTime = distorted.currentTime;
  requestAnimationFrame(holdTogether);
}

function startBoth() {
  const [reference, distorted] = large.videos;
  if (distorted.ended) distorted.currentTime = 0;
  reference.currentTime = distorted.currentTime;
  Promise.all([reference.play(), distorted.play()]).then(holdTogether, (reason) => {
    document.getElementById("large-note").textContent = `This browser does not play the clip: ${reason.message}`;
  });
}

function makeClips() {
  large.videos = ["reference", "distorted"].map(videoOf);
  const [, distorted] = large.videos;
  distorted.addEventListener("loadedmetadata", sizeLarge);
  distorted.addEventListener("ended", () => { if (large.videos) startBoth(); });
  distorted.addEventListener("seeked", showClipState);
  putLarge(large.videos);
  document.getElementById("large-note").textContent = "Encoded once more, so that browsers play it; the picture is from the file itself.";
}

function playClips() {
  if (!large.videos) makeClips();
  const [reference, distorted] = large.videos;
  if (distorted.paused) return startBoth();
  large.videos.forEach((each) => each.pause());
  reference.currentTime = distorted.currentTime;
  showClipState();
}

function stepClips(count) {
  if (!large.videos) makeClips();
  const frame = Math.floor(large.videos[1].currentTime * clipRate() + 0.01) + count;
  large.videos.forEach((each) => {
    each.pause();
    each.currentTime = (Math.max(0, frame) + 0.5) / clipRate();
  });
  showClipState();
}

function startSliders() {
  document.querySelectorAll(".scene").forEach((scene) => {
    const figures = [...scene.querySelectorAll("figure")].slice(0, 2);
    const slider = sliderOf(figures.map((each) => each.querySelector("img")), scene.dataset.name);
    const buttons = document.createElement("div");
    buttons.className = "buttons";
    buttons.append(buttonOf("Enlarge", () => openLarge(scene, false)));
    if (scene.dataset.clips) buttons.append(buttonOf("Play", () => openLarge(scene, true)));
    slider.element.append(buttons);
    figures[0].replaceWith(slider.element);
    figures[1].remove();
  });
  const on = (id, act) => document.getElementById(id).addEventListener("click", act);
  on("large-close", () => large.dialog.close());
  on("large-fit", (event) => {
    large.isFit = !large.isFit;
    event.target.setAttribute("aria-pressed", String(large.isFit));
    sizeLarge();
  });
  on("large-play", playClips);
  on("large-back", () => stepClips(-1));
  on("large-next", () => stepClips(1));
  large.dialog.addEventListener("close", () => {
    stopClips();
    document.getElementById("large-place").replaceChildren();
  });
  addEventListener("resize", () => { if (large.dialog.open) sizeLarge(); });
}
