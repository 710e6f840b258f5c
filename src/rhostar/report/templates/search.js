"use strict";
/* A* in the browser, for queries of the reader's own: the same rules as src/core/engine/best_first.hpp. The vertex of
   lowest g + rho is selected, ties go to the lower number, children are looked at in order, and a strictly better path
   reopens a vertex. Doubles are added from the start in the same order, so ties and counts are those of the core. */
const rhostarSearch = (() => {
  const SELECT = 0, OPEN = 1, IMPROVE = 2, REOPEN = 3; // as in replay.js

  /* OPEN: a binary heap of vertices that knows where each of them is. */
  class Heap {
    constructor(n) {
      this.items = [];
      this.place = new Int32Array(n).fill(-1);
      this.score = new Float64Array(n);
    }
    before(a, b) {
      return this.score[a] < this.score[b] || (this.score[a] === this.score[b] && a < b);
    }
    put(v, score) { // a new vertex, or one whose score falls
      if (this.place[v] < 0) this.place[v] = this.items.push(v) - 1;
      this.score[v] = score;
      this.up(this.place[v]);
    }
    pop() {
      const first = this.items[0], last = this.items.pop();
      this.place[first] = -1;
      if (this.items.length) {
        this.items[0] = last;
        this.place[last] = 0;
        this.down(0);
      }
      return first;
    }
    swap(i, j) {
      const a = this.items[i], b = this.items[j];
      this.items[i] = b;
      this.items[j] = a;
      this.place[b] = i;
      this.place[a] = j;
    }
    up(i) {
      for (let above = (i - 1) >> 1; i > 0 && this.before(this.items[i], this.items[above]); above = (i - 1) >> 1) {
        this.swap(i, above);
        i = above;
      }
    }
    down(i) {
      for (;;) {
        let first = i;
        for (const below of [2 * i + 1, 2 * i + 2]) {
          if (below < this.items.length && this.before(this.items[below], this.items[first])) first = below;
        }
        if (first === i) return;
        this.swap(i, first);
        i = first;
      }
    }
  }

  /* graph: { n, first, head }, children in order of their numbers; weights: one number per edge, Infinity if closed. */
  function astar(graph, weights, source, goal, rho) {
    const { n, first, head } = graph;
    const g = new Float64Array(n).fill(Infinity), state = new Uint8Array(n); // 1 in OPEN, 2 in CLOSED
    const heap = new Heap(n), code = [OPEN], vertex = [source], starts = [];
    let expanded = 0;
    g[source] = 0;
    state[source] = 1;
    heap.put(source, rho[source]);
    while (heap.items.length) {
      const v = heap.pop();
      starts.push(code.length);
      code.push(SELECT);
      vertex.push(v);
      if (v === goal) return { status: "solved", cost: g[v], expanded, lastClosed: false, log: log() };
      expanded++;
      for (let e = first[v]; e < first[v + 1]; e++) {
        const c = head[e], through = g[v] + weights[e];
        if (!(through < g[c])) continue;
        code.push(state[c] === 0 ? OPEN : state[c] === 1 ? IMPROVE : REOPEN);
        vertex.push(c);
        g[c] = through;
        state[c] = 1;
        heap.put(c, through + rho[c]);
      }
      state[v] = 2;
    }
    return { status: "no_path", cost: Infinity, expanded, lastClosed: true, log: log() };

    function log() {
      return { code: Uint8Array.from(code), vertex: Int32Array.from(vertex), starts: Int32Array.from([...starts, code.length]) };
    }
  }

  /* The cost from every vertex to the goal; a vertex that cannot reach it gets more than all others. */
  function toGoal(graph, weights, goal) {
    const { n, first, head } = graph;
    const into = new Int32Array(n + 1), tail = new Int32Array(head.length), edge = new Int32Array(head.length);
    for (const v of head) into[v + 1]++;
    for (let v = 0; v < n; v++) into[v + 1] += into[v];
    const next = into.slice();
    for (let v = 0; v < n; v++) {
      for (let e = first[v]; e < first[v + 1]; e++) {
        const at = next[head[e]]++;
        tail[at] = v;
        edge[at] = e;
      }
    }
    const cost = new Float64Array(n).fill(Infinity), heap = new Heap(n);
    cost[goal] = 0;
    heap.put(goal, 0);
    let most = 0;
    while (heap.items.length) {
      const v = heap.pop();
      most = cost[v];
      for (let i = into[v]; i < into[v + 1]; i++) {
        const through = cost[v] + weights[edge[i]];
        if (through < cost[tail[i]]) {
          cost[tail[i]] = through;
          heap.put(tail[i], through);
        }
      }
    }
    return cost.map((value) => (value === Infinity ? 2 * most : value));
  }

  return { astar, toGoal };
})();
