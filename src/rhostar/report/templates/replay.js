"use strict";
/* The search replay: one clock, two searches. A step is one iteration of a search; both take theirs at the same
   time, so what is compared is work. Events come as replay.py wrote them and are applied one after the other;
   only what changed is drawn, so a step costs what it touches. Going back starts over without drawing. */
(() => {
  const holder = document.getElementById("replay-data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const $ = (id) => document.getElementById(id);
  const SELECT = 0, OPEN = 1, IMPROVE = 2, REOPEN = 3, GOAL = 4; // replay.py, _CODE
  const UNSEEN = 0, FRONTIER = 1, DONE = 2;
  const NO_WAY = 255; // replay.py
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const number = new Intl.NumberFormat("en-US");
  const plural = (count, one, many) => `${number.format(count)} ${count === 1 ? one : many}`;

  // ---------------------------------------------------------------- reading

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

  function varints(raw) {
    let count = 0;
    for (let i = 0; i < raw.length; i++) if (raw[i] < 128) count++;
    const out = new Float64Array(count);
    for (let i = 0, k = 0; k < count; k++) {
      let value = 0, factor = 1, byte;
      do {
        byte = raw[i++];
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
      out[k] = value;
    }
    return out;
  }

  function readEvents(text, source) {
    const values = varints(bytes(text));
    const code = new Uint8Array(values.length), vertex = new Int32Array(values.length);
    const starts = []; // where each iteration begins
    let reference = source;
    for (let i = 0; i < values.length; i++) {
      code[i] = values[i] % 8;
      const zigzag = Math.floor(values[i] / 8);
      vertex[i] = reference + (zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2);
      if (code[i] === SELECT) {
        starts.push(i);
        reference = vertex[i];
      }
    }
    starts.push(values.length);
    return { code, vertex, starts: Int32Array.from(starts) };
  }

  const u16 = (text) => {
    const raw = bytes(text);
    return new Uint16Array(raw.buffer);
  };

  const drawing = data.drawing;
  const grid = drawing.kind === "grid";
  if (!grid) {
    drawing.x = u16(drawing.x);
    drawing.y = u16(drawing.y);
    const pairs = varints(bytes(drawing.edges));
    drawing.low = new Int32Array(pairs.length / 2);
    drawing.high = new Int32Array(pairs.length / 2);
    for (let e = 0, low = 0; e < drawing.low.length; e++) {
      low += pairs[2 * e];
      drawing.low[e] = low;
      drawing.high[e] = low + pairs[2 * e + 1];
    }
  }
  const f64 = (text) => new Float64Array(bytes(text).buffer);

  // ---------------------------------------------------------------- a query of the reader's own

  const own = data.own;
  if (own) {
    const counts = varints(bytes(own.counts)), first = new Int32Array(drawing.n + 1);
    for (let v = 0; v < drawing.n; v++) first[v + 1] = first[v] + counts[v];
    own.graph = { n: drawing.n, first, head: Int32Array.from(varints(bytes(own.heads))) };
    own.today = f64(own.weights);
    own.weights = own.today.slice(); // with the streets that the reader closed
    for (const method of own.methods) method.edges = method.edges && f64(method.edges);
    own.scene = { ...data.scenes[0], label: "your own query", leftOut: [], searches: [], own: true };
    data.scenes.push(own.scene);
    answerOwn();
  }
  function answerOwn() {
    const { graph, weights, scene } = own, none = new Float64Array(graph.n);
    const best = rhostarSearch.astar(graph, weights, scene.source, scene.goal, none).cost;
    scene.searches = own.methods.map((method) => {
      const rho = method.edges ? rhostarSearch.toGoal(graph, method.edges, scene.goal) : none;
      const found = rhostarSearch.astar(graph, weights, scene.source, scene.goal, rho);
      return { ...method, ...found, excess: found.cost === best ? 0 : found.cost / best - 1 };
    });
  }
  /* Close a street, or open it again: the edge between two vertices, in both directions. */
  function toggleStreet(a, b) {
    const { first, head } = own.graph;
    let open = false;
    const between = [];
    for (const [u, v] of [[a, b], [b, a]]) {
      for (let e = first[u]; e < first[u + 1]; e++) if (head[e] === v) between.push(e);
    }
    for (const e of between) open ||= own.weights[e] < Infinity;
    for (const e of between) own.weights[e] = open ? Infinity : own.today[e];
    return open;
  }
  const shadeOf = (scene) => (scene.shadeBytes ??= bytes(scene.shade));
  const eventsOf = (search, scene) => (search.log ??= readEvents(search.events, scene.source));

  // ---------------------------------------------------------------- the state of one search

  class Course {
    constructor(search, scene) {
      this.search = search;
      this.scene = scene;
      this.log = eventsOf(search, scene);
      this.last = this.log.starts.length - 1; // iterations
      this.state = new Uint8Array(drawing.n);
      this.times = new Uint16Array(drawing.n); // how often expanded
      this.when = new Int32Array(drawing.n); // the iteration that closed it
      this.parent = new Int32Array(drawing.n);
      this.reset();
    }
    reset() {
      this.state.fill(UNSEEN);
      this.times.fill(0);
      this.parent.fill(-1);
      this.at = 0;
      this.open = 0;
      this.expanded = 0;
      this.reopened = 0;
      this.selected = -1;
      this.reached = false;
      this.run(0, this.log.starts[0], null); // the source enters OPEN before the first iteration
    }
    run(from, to, touched) {
      const { code, vertex } = this.log;
      for (let i = from; i < to; i++) {
        const v = vertex[i];
        switch (code[i]) {
          case SELECT:
            this.selected = v;
            break;
          case OPEN:
            this.open++;
            this.state[v] = FRONTIER;
            this.parent[v] = this.selected;
            break;
          case IMPROVE:
            this.parent[v] = this.selected;
            break;
          case REOPEN:
            this.open++;
            this.reopened++;
            if (touched) touched.push(-1 - v); // its old edge of the tree goes
            this.state[v] = FRONTIER;
            this.parent[v] = this.selected;
            break;
          case GOAL:
            this.parent[v] = this.selected;
            this.reached = true;
            break;
        }
        if (touched && code[i] !== IMPROVE) touched.push(v);
      }
    }
    /* One iteration: the selected vertex is expanded and closed, unless the search returns midway. */
    step(touched) {
      const k = this.at;
      this.run(this.log.starts[k], this.log.starts[k + 1], touched);
      this.at = k + 1;
      const v = this.selected, final = this.at === this.last;
      const midway = final && !this.search.lastClosed;
      if (midway && v === this.scene.goal) this.reached = true;
      if (!midway) {
        this.state[v] = DONE;
        this.open--;
      }
      if (!(midway && v === this.scene.goal)) {
        this.expanded++;
        this.times[v]++;
      }
      this.when[v] = this.at;
      if (touched) touched.push(v);
    }
    /* Move to an iteration. Returns the vertices that changed, or null where everything may have. */
    seek(target) {
      target = Math.min(target, this.last);
      if (target === this.at) return [];
      const back = target < this.at;
      const touched = back || target - this.at > 5000 ? null : [];
      if (back) this.reset();
      while (this.at < target) this.step(touched);
      return touched;
    }
    get ended() {
      return this.at === this.last;
    }
    /* The path known to the vertex that was selected last, or to the goal once it is reached. */
    path() {
      let v = this.reached ? this.scene.goal : this.selected;
      const found = [];
      for (let hops = 0; v >= 0 && hops <= drawing.n; hops++) {
        found.push(v);
        v = this.parent[v];
      }
      return found;
    }
  }

  // ---------------------------------------------------------------- drawing

  let palette = {};
  function readPalette() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    const rgb = (name) => {
      const hex = value(name);
      return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    };
    const mix = (a, b, t) => a.map((c, i) => Math.round(c + (b[i] - c) * t));
    const css = (c) => `rgb(${c[0]},${c[1]},${c[2]})`;
    const [early, late] = [rgb("--closed-early"), rgb("--closed-late")];
    const [ground, slow] = [rgb("--ground"), rgb("--ground-slow")];
    palette = {
      ramp: Array.from({ length: 64 }, (_, i) => mix(early, late, i / 63)),
      ground: Array.from({ length: 255 }, (_, i) => mix(ground, slow, i / 254)),
      wall: rgb("--wall"), open: rgb("--open"), again: rgb("--again"), mix, css,
      path: value("--path"), halo: value("--canvas"), start: value("--ink"), goal: value("--path"),
      canvas: value("--canvas"), roads: [0, 0.5, 1].map((t) => css(mix(rgb("--road"), slow, t))),
    };
    palette.rampCss = palette.ramp.map(css);
    palette.openCss = css(palette.open);
    palette.againCss = css(palette.again);
  }

  class Panel {
    constructor(side) {
      this.side = side;
      this.canvas = $(`canvas-${side}`);
      this.context = this.canvas.getContext("2d", { alpha: false });
      this.picker = $(`pick-${side}`);
      this.base = document.createElement("canvas"); // what does not change during a search
      this.layer = document.createElement("canvas"); // what changes: CLOSED, on grids OPEN too
      this.course = null;
    }
    choose(scene, search) {
      this.course = new Course(search, scene);
      this.stale = true;
      this.baseStale = true;
    }
    resize() {
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
      const aspect = grid ? drawing.columns / drawing.rows : drawing.aspect;
      const height = Math.max(1, Math.round(width / Math.min(Math.max(aspect, 0.6), 2.4)));
      if (this.canvas.width === width && this.canvas.height === height) return false;
      this.canvas.width = width;
      this.canvas.height = height;
      this.ratio = ratio;
      const margin = grid ? 0 : 10 * ratio;
      // The drawing keeps its shape inside the canvas.
      const scale = Math.min((width - 2 * margin) / aspect, height - 2 * margin);
      this.w = aspect * scale;
      this.h = scale;
      this.left = (width - this.w) / 2;
      this.top = (height - this.h) / 2;
      this.stale = this.baseStale = true;
      return true;
    }
    x(v) {
      return grid ? this.left + ((v % drawing.columns) + 0.5) * (this.w / drawing.columns)
                  : this.left + (drawing.x[v] / 65535) * this.w;
    }
    y(v) {
      return grid ? this.top + (Math.floor(v / drawing.columns) + 0.5) * (this.h / drawing.rows)
                  : this.top + (drawing.y[v] / 65535) * this.h;
    }
    tone(v) { // the color of a closed vertex tells when it was closed
      const i = Math.min(63, Math.floor((64 * this.course.when[v]) / (clock.last + 1)));
      return i;
    }

    // -------- grids: one pixel a cell, scaled up by the browser

    paintCell(v) {
      const { state, times } = this.course;
      let c;
      if (state[v] === FRONTIER) c = palette.open;
      else if (state[v] === DONE) {
        c = times[v] > 1 ? palette.again : palette.ramp[this.tone(v)];
        const shade = this.shade[v];
        if (shade !== NO_WAY) c = palette.mix(c, palette.ground[shade], 0.16);
      } else c = this.shade[v] === NO_WAY ? palette.wall : palette.ground[this.shade[v]];
      const i = 4 * v;
      this.pixels.data[i] = c[0];
      this.pixels.data[i + 1] = c[1];
      this.pixels.data[i + 2] = c[2];
      this.pixels.data[i + 3] = 255;
    }
    updateGrid(touched) {
      if (this.baseStale) {
        this.shade = shadeOf(this.course.scene);
        this.layer.width = drawing.columns;
        this.layer.height = drawing.rows;
        this.pixels = this.layer.getContext("2d").createImageData(drawing.columns, drawing.rows);
        this.baseStale = false;
        touched = null;
      }
      if (touched === null) for (let v = 0; v < drawing.n; v++) this.paintCell(v);
      else for (const v of touched) if (v >= 0) this.paintCell(v);
      if (touched === null || touched.length) this.layer.getContext("2d").putImageData(this.pixels, 0, 0);
    }

    // -------- graphs: edges of the search tree, vertices of OPEN as dots

    paintBase() {
      const { width, height } = this.canvas;
      this.base.width = this.layer.width = width;
      this.base.height = this.layer.height = height;
      const pen = this.base.getContext("2d", { alpha: false });
      pen.fillStyle = palette.canvas;
      pen.fillRect(0, 0, width, height);
      const shade = shadeOf(this.course.scene);
      const bins = [[], [], []];
      for (let e = 0; e < shade.length; e++) if (shade[e] !== NO_WAY) bins[Math.floor((shade[e] * 2.999) / 254)].push(e);
      const thin = this.stroke();
      bins.forEach((members, level) => {
        pen.beginPath();
        for (const e of members) {
          pen.moveTo(this.x(drawing.low[e]), this.y(drawing.low[e]));
          pen.lineTo(this.x(drawing.high[e]), this.y(drawing.high[e]));
        }
        pen.strokeStyle = palette.roads[level];
        pen.lineWidth = thin * (0.8 + 0.25 * level);
        pen.stroke();
      });
      this.baseStale = false;
    }
    stroke() { // thinner lines on larger graphs
      return this.ratio * Math.min(2.2, Math.max(0.5, 60 / Math.sqrt(drawing.n)));
    }
    updateGraph(touched) {
      if (this.baseStale) {
        this.paintBase();
        touched = null;
      }
      // A reopened vertex leaves its old edge of the tree: only drawing the whole tree again removes it.
      if (touched !== null && touched.some((v) => v < 0)) touched = drawing.n <= 20000 ? null : touched.filter((v) => v >= 0);
      const pen = this.layer.getContext("2d");
      const { state, parent, times } = this.course;
      const line = this.stroke() * 1.9, dot = Math.max(1.1 * this.ratio, line * 0.95);
      pen.lineCap = "round";
      if (touched === null) {
        pen.clearRect(0, 0, this.layer.width, this.layer.height);
        touched = [];
        for (let v = 0; v < drawing.n; v++) if (state[v] === DONE) touched.push(v);
      }
      const closed = new Map(); // by color: a line costs little, changing the pen does not
      for (const v of touched) {
        if (state[v] === DONE) {
          const color = times[v] > 1 ? palette.againCss : palette.rampCss[this.tone(v)];
          if (!closed.has(color)) closed.set(color, []);
          closed.get(color).push(v);
        }
      }
      pen.lineWidth = line;
      for (const [color, members] of closed) {
        pen.strokeStyle = pen.fillStyle = color;
        pen.beginPath();
        for (const v of members) {
          const p = parent[v];
          if (p >= 0) {
            pen.moveTo(this.x(p), this.y(p));
            pen.lineTo(this.x(v), this.y(v));
          }
        }
        pen.stroke();
        for (const v of members) pen.fillRect(this.x(v) - dot / 2, this.y(v) - dot / 2, dot, dot);
      }
    }
    paintOpen(pen) { // again in every frame: vertices leave OPEN, and what covers others cannot be removed
      const { state } = this.course, half = Math.max(1.1 * this.ratio, this.stroke() * 1.8);
      pen.fillStyle = palette.openCss;
      pen.beginPath();
      for (let v = 0; v < drawing.n; v++) {
        if (state[v] === FRONTIER) pen.rect(this.x(v) - half, this.y(v) - half, 2 * half, 2 * half);
      }
      pen.fill();
    }

    draw(touched) {
      this.resize();
      if (this.stale) touched = null;
      this.stale = false;
      const pen = this.context, { width, height } = this.canvas;
      if (grid) {
        this.updateGrid(touched);
        pen.fillStyle = palette.canvas;
        pen.fillRect(0, 0, width, height);
        pen.imageSmoothingEnabled = false;
        pen.drawImage(this.layer, this.left, this.top, this.w, this.h);
      } else {
        this.updateGraph(touched);
        pen.drawImage(this.base, 0, 0);
        pen.drawImage(this.layer, 0, 0);
        this.paintOpen(pen);
      }
      this.overlay(pen);
      this.report();
    }
    overlay(pen) {
      const path = this.course.path();
      const thick = Math.max(2.2 * this.ratio, grid ? Math.min(5 * this.ratio, (0.35 * this.w) / drawing.columns) : 0);
      if (path.length > 1) {
        pen.beginPath();
        path.forEach((v, i) => (i ? pen.lineTo(this.x(v), this.y(v)) : pen.moveTo(this.x(v), this.y(v))));
        pen.lineJoin = pen.lineCap = "round";
        pen.strokeStyle = palette.halo;
        pen.lineWidth = thick + 2.4 * this.ratio;
        pen.stroke();
        pen.strokeStyle = palette.path;
        pen.lineWidth = thick;
        pen.stroke();
      }
      const { source, goal } = this.course.scene;
      if (this.course.scene.own) this.closedStreets(pen);
      this.marker(pen, source, palette.start, "S");
      this.marker(pen, goal, palette.goal, "G");
    }
    closedStreets(pen) {
      pen.beginPath();
      for (const [a, b] of own.closed) {
        const [x, y] = [(this.x(a) + this.x(b)) / 2, (this.y(a) + this.y(b)) / 2], r = 4.5 * this.ratio;
        pen.moveTo(x - r, y - r);
        pen.lineTo(x + r, y + r);
        pen.moveTo(x - r, y + r);
        pen.lineTo(x + r, y - r);
      }
      pen.lineCap = "round";
      for (const [color, width] of [[palette.halo, 5], [palette.start, 2.4]]) {
        pen.strokeStyle = color;
        pen.lineWidth = width * this.ratio;
        pen.stroke();
      }
    }
    marker(pen, v, color, letter) {
      const r = 8.5 * this.ratio;
      const x = Math.min(Math.max(this.x(v), r), this.canvas.width - r);
      const y = Math.min(Math.max(this.y(v), r), this.canvas.height - r);
      pen.beginPath();
      pen.arc(x, y, r, 0, 7);
      pen.fillStyle = color;
      pen.fill();
      pen.strokeStyle = palette.halo;
      pen.lineWidth = 2 * this.ratio;
      pen.stroke();
      pen.fillStyle = palette.halo;
      pen.font = `700 ${11 * this.ratio}px system-ui, sans-serif`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(letter, x, y + 0.6 * this.ratio);
    }

    // -------- numbers beside the picture

    report() {
      const { course, side } = this;
      const set = (what, text) => {
        const node = $(`${what}-${side}`);
        if (node.textContent !== text) node.textContent = text;
      };
      set("expanded", number.format(course.expanded));
      set("open", number.format(course.open));
      set("reopened", number.format(course.reopened));
      set("verdict", this.verdict());
      $(`done-${side}`).style.transform = `scaleX(${course.at / Math.max(1, clock.last)})`;
      $(`card-${side}`).classList.toggle("ended", course.ended && course.reached);
    }
    verdict() {
      const { search, ended, reached } = this.course;
      if (!ended) return "searching …";
      if (!reached) return search.status === "budget" ? "stopped: more vertices than allowed" : "no path";
      const unit = data.unit ? ` ${data.unit}` : "";
      const quality = search.excess < 1e-9 ? data.best : `${(100 * search.excess).toFixed(search.excess < 0.001 ? 3 : 2)} % ${data.above}`;
      return `${data.unit ? "" : "cost "}${search.cost.toLocaleString("en-US", { maximumSignificantDigits: 5 })}${unit}, ${quality}`;
    }
    describe() {
      const { search, expanded, open, ended, reached } = this.course;
      const name = `${search.method}: ${plural(expanded, "vertex", "vertices")} searched`;
      return ended && reached ? `${name}, goal reached, ${this.verdict()}.` : `${name}, ${number.format(open)} waiting.`;
    }
  }

  // ---------------------------------------------------------------- one clock for both

  const clock = { at: 0, last: 1, playing: false, speed: 1, frame: 0, then: 0, spoken: 0 };
  const panels = [new Panel("a"), new Panel("b")];
  const scrub = $("scrub"), play = $("play"), speed = $("speed"), live = $("live"), scenePicker = $("scene");
  const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8];
  const DURATION = 14; // seconds for the longer search at speed 1
  const frames = []; // durations, newest last: the page can be asked how fluent it was

  function show(step, { quiet = false } = {}) {
    clock.at = Math.max(0, Math.min(step, clock.last));
    const whole = Math.floor(clock.at);
    for (const panel of panels) panel.draw(panel.course.seek(whole));
    if (scrub.value !== String(whole)) scrub.value = whole;
    scrub.setAttribute("aria-valuetext", `step ${whole} of ${clock.last}`);
    $("clock").textContent = `${number.format(whole)} / ${number.format(clock.last)}`;
    if (!quiet) speak();
  }
  function speak() {
    live.textContent = `Step ${number.format(Math.floor(clock.at))}. ${panels.map((p) => p.describe()).join(" ")}`;
  }
  function setPlaying(on) {
    if (on === clock.playing) return;
    clock.playing = on;
    play.setAttribute("aria-pressed", String(on));
    play.querySelector(".word").textContent = on ? "Pause" : "Play";
    play.classList.toggle("on", on);
    if (on) {
      if (clock.at >= clock.last) show(0, { quiet: true });
      clock.then = performance.now();
      clock.spoken = clock.then;
      frames.length = 0;
      clock.frame = requestAnimationFrame(tick);
    } else {
      cancelAnimationFrame(clock.frame);
      speak();
    }
  }
  function tick(now) {
    const elapsed = now - clock.then;
    // Whoever asked for less motion gets two pictures a second.
    if (calm.matches && elapsed < 500) {
      clock.frame = requestAnimationFrame(tick);
      return;
    }
    clock.then = now;
    frames.push(elapsed);
    if (frames.length > 600) frames.shift();
    const rate = (SPEEDS[speed.value] * clock.last) / DURATION;
    show(clock.at + (rate * Math.min(elapsed, 1000)) / 1000, { quiet: true });
    if (now - clock.spoken > 2000) {
      clock.spoken = now;
      speak();
    }
    if (clock.at >= clock.last) setPlaying(false);
    else clock.frame = requestAnimationFrame(tick);
  }
  const nudge = (steps) => {
    setPlaying(false);
    show(Math.floor(clock.at) + steps);
  };

  function fill(select, names, chosen) {
    select.replaceChildren(...names.map((name, i) => new Option(name, String(i), i === chosen, i === chosen)));
  }
  function chooseScene(index, atEnd = true) {
    const scene = data.scenes[index];
    const names = scene.searches.map((s) => s.label);
    const wanted = panels.map((p, i) => {
      const kept = p.course ? scene.searches.findIndex((s) => s.method === p.course.search.method) : -1;
      return kept >= 0 ? kept : Math.min(data.start[i], names.length - 1);
    });
    panels.forEach((panel, i) => {
      fill(panel.picker, names, wanted[i]);
      panel.choose(scene, scene.searches[wanted[i]]);
    });
    $("own").hidden = !scene.own;
    $("own-begin").hidden = !own || Boolean(scene.own);
    if (scene.own) [$("own-start").value, $("own-goal").value] = [scene.source, scene.goal];
    $("scene-text").textContent = `From ${name(scene.source)} to ${name(scene.goal)}.` +
      (scene.leftOut.length ? ` Too long to be stored: ${scene.leftOut.join(", ")}.` : "");
    retime(atEnd);
  }
  const name = (v) => data.labels[v] ?? (grid ? `cell (${Math.floor(v / drawing.columns)}, ${v % drawing.columns})` : `vertex ${v}`);

  /* Ask the reader's own query: a new start or goal, or another street closed. */
  function ask(change) {
    if (change.source === (change.goal ?? own.scene.goal) || change.goal === (change.source ?? own.scene.source)) return;
    setPlaying(false);
    Object.assign(own.scene, change);
    answerOwn();
    scenePicker.value = String(data.scenes.length - 1);
    chooseScene(data.scenes.length - 1);
    speak();
  }
  function close(a, b) {
    const closed = toggleStreet(a, b), same = ([u, v]) => u === Math.min(a, b) && v === Math.max(a, b);
    own.closed = own.closed.filter((pair) => !same(pair));
    if (closed) own.closed.push([Math.min(a, b), Math.max(a, b)]);
    ask({});
  }
  function retime(atEnd) {
    clock.last = Math.max(1, ...panels.map((p) => p.course.last));
    scrub.max = clock.last;
    for (const panel of panels) panel.stale = true;
    show(atEnd ? clock.last : clock.at, { quiet: true });
  }

  fill(scenePicker, data.scenes.map((s) => s.label), 0);
  $("scene-field").hidden = data.scenes.length < 2;
  scenePicker.addEventListener("change", () => {
    setPlaying(false);
    chooseScene(Number(scenePicker.value));
    speak();
  });
  for (const panel of panels) {
    panel.picker.addEventListener("change", () => {
      setPlaying(false);
      panel.choose(panel.course.scene, panel.course.scene.searches[Number(panel.picker.value)]);
      retime(true);
      speak();
    });
    // Pointing at a vertex names it.
    panel.canvas.addEventListener("pointermove", (event) => point(panel, event));
    panel.canvas.addEventListener("pointerdown", (event) => point(panel, event));
    panel.canvas.addEventListener("click", (event) => panel.course.scene.own && clicked(panel, event));
    panel.canvas.addEventListener("pointerleave", () => ($("pointed").textContent = "\u00a0"));
  }
  play.addEventListener("click", () => setPlaying(!clock.playing));
  $("back").addEventListener("click", () => nudge(-1));
  $("forward").addEventListener("click", () => nudge(1));
  $("restart").addEventListener("click", () => {
    setPlaying(false);
    show(0);
  });
  $("finish").addEventListener("click", () => {
    setPlaying(false);
    show(clock.last);
  });
  scrub.addEventListener("input", () => {
    setPlaying(false);
    show(Number(scrub.value), { quiet: true });
  });
  scrub.addEventListener("change", speak);
  const sayPace = () => {
    const text = `${SPEEDS[speed.value]}×`;
    $("pace").textContent = text;
    speed.setAttribute("aria-valuetext", text);
  };
  speed.addEventListener("input", sayPace);

  const KEYS = {
    " ": () => setPlaying(!clock.playing), k: () => setPlaying(!clock.playing),
    ArrowRight: (e) => nudge(e.shiftKey ? 100 : 1), ArrowLeft: (e) => nudge(e.shiftKey ? -100 : -1),
    Home: () => nudge(-Infinity), End: () => nudge(Infinity),
    "+": () => pace(1), "=": () => pace(1), "-": () => pace(-1),
  };
  const pace = (by) => {
    speed.value = Number(speed.value) + by;
    sayPace();
  };
  $("replay").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const own = event.target.tagName; // sliders, lists and buttons keep the keys they know
    if (own === "SELECT" || own === "INPUT" || (own === "BUTTON" && event.key === " ")) return;
    const action = KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });

  if (own) {
    own.closed = [];
    const given = (id) => Math.min(drawing.n - 1, Math.max(0, Math.floor(Number($(id).value)) || 0));
    $("own-begin").addEventListener("click", () => ask({}));
    $("own-start").max = $("own-goal").max = drawing.n - 1;
    $("own-start").addEventListener("change", () => ask({ source: given("own-start") }));
    $("own-goal").addEventListener("change", () => ask({ goal: given("own-goal") }));
    $("own-reset").addEventListener("click", () => {
      own.weights.set(own.today);
      own.closed = [];
      ask({});
    });
  }
  function clicked(panel, event) {
    const { x, y, v } = place(panel, event), what = document.querySelector("input[name=own-click]:checked").value;
    if (what !== "close") {
      if (v >= 0) ask({ [what]: v });
      return;
    }
    let best = (14 * panel.ratio) ** 2, found = null;
    for (let e = 0; e < drawing.low.length; e++) { // the nearest street: distance to a segment
      const [a, b] = [drawing.low[e], drawing.high[e]];
      const [ax, ay, bx, by] = [panel.x(a), panel.y(a), panel.x(b), panel.y(b)];
      const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1);
      const t = Math.min(1, Math.max(0, along));
      const d = (x - ax - t * (bx - ax)) ** 2 + (y - ay - t * (by - ay)) ** 2;
      if (d < best) [best, found] = [d, [a, b]];
    }
    if (found) close(...found);
  }

  function place(panel, event) {
    const box = panel.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * panel.canvas.width;
    const y = ((event.clientY - box.top) / box.height) * panel.canvas.height;
    let v = -1;
    if (grid) {
      const column = Math.floor(((x - panel.left) / panel.w) * drawing.columns);
      const row = Math.floor(((y - panel.top) / panel.h) * drawing.rows);
      if (column >= 0 && column < drawing.columns && row >= 0 && row < drawing.rows) v = row * drawing.columns + column;
    } else {
      const px = ((x - panel.left) / panel.w) * 65535, py = ((y - panel.top) / panel.h) * 65535;
      const sx = panel.w / 65535, sy = panel.h / 65535;
      let best = (14 * panel.ratio) ** 2;
      for (let u = 0; u < drawing.n; u++) {
        const d = ((drawing.x[u] - px) * sx) ** 2 + ((drawing.y[u] - py) * sy) ** 2;
        if (d < best) [best, v] = [d, u];
      }
    }
    return { x, y, v };
  }
  function point(panel, event) {
    const { v } = place(panel, event);
    const { state, when } = panel.course;
    const words = ["not seen", "waiting", `searched at step ${v < 0 ? 0 : number.format(when[v])}`];
    $("pointed").textContent = v < 0 ? "\u00a0"
      : `vertex ${v}${data.labels[v] === undefined ? "" : ` · ${data.labels[v]}`} · ${words[state[v]]}`;
  }

  function repaint() {
    readPalette();
    for (const panel of panels) panel.stale = panel.baseStale = true;
    show(clock.at, { quiet: true });
  }
  document.addEventListener("themechange", repaint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  new ResizeObserver(() => {
    if (panels.some((p) => Math.abs(p.canvas.clientWidth * p.ratio - p.canvas.width) > 1)) show(clock.at, { quiet: true });
  }).observe($("stage"));

  readPalette();
  sayPace();
  chooseScene(0);
  window.rhostarReplay = { clock, panels, frames, show, own, ask, close }; // for tests and the curious
})();
