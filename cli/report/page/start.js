// SPDX-License-Identifier: BSD-2-Clause-Patent

startTime();
startRates();
startDistribution();
startLadder();
startSliders();
followTheme();
// For those who measure how long the page took, from the first request on.
requestAnimationFrame(() => { document.documentElement.dataset.drawnMs = String(Math.round(performance.now())); });
