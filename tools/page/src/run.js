// The run that the page shows: columns by time, and where bodies are.
import {Quaternion, Vector3} from 'three';

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
const unpacked = (text) => {
  return new Float64Array(bytesOf(text));
};

// A surface: its points are told as parts of the box around them.
const surface = ({least, step, wide, points, corners}) => {
  const parts = new Uint16Array(bytesOf(points)), at = new Float32Array(parts.length);
  for (let i = 0; i < parts.length; ++i) at[i] = least[i % 3] + step[i % 3] * parts[i];
  return {points: at, corners: wide ? new Uint32Array(bytesOf(corners)) : new Uint16Array(bytesOf(corners))};
};

export class Run {
  constructor(data) {
    Object.assign(this, data);
    for (const c of this.columns) c.values = unpacked(c.data);
    this.tracks = data.tracks.map(unpacked);
    const meshes = data.meshes.map(surface);
    for (const {pieces} of this.bodies)
      for (const p of pieces)
        if (p.mesh) p.surface = meshes[p.mesh - 1];
    for (const s of this.sliders) s.poses = new Float32Array(bytesOf(s.poses));
    this.bodies.forEach((body, i) => { body.index = i; });
    this.times = this.columns[0].values;
    this.start = this.times[0];
    this.end = this.times[this.times.length - 1];
    this.k = 0;  // the sample at or before the time shown
    this.f = 0;  // how far it is from there to the next, 0 ... 1
  }

  // The last sample at or before t, and the share of the way to the next.
  locate(t) {
    const {times} = this;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= t) low = middle; else high = middle - 1;
    }
    const next = Math.min(low + 1, times.length - 1), span = times[next] - times[low];
    return {k: low, f: span > 0 ? Math.min(1, Math.max(0, (t - times[low]) / span)) : 0};
  }
  goTo(t) { Object.assign(this, this.locate(t), {moved: null}); }

  // Puts the bodies where they stand with a joint at x, until another time is shown.
  move(slider, x) {
    const {positions} = slider, last = positions.length - 1;
    let k = 0;
    while (k + 1 < last && positions[k + 1] <= x) ++k;
    const span = last > 0 ? positions[k + 1] - positions[k] : 0;
    this.moved = {slider, k, f: span > 0 ? Math.min(1, Math.max(0, (x - positions[k]) / span)) : 0};
  }
  movedPose(body, position, turn) {
    const {slider, k, f} = this.moved, i = slider.bodies.indexOf(body.index), n = slider.bodies.length;
    if (i < 0) return false;
    const pose = (sample, p, q) => {
      const a = 7 * (n * sample + i), x = slider.poses;
      p.set(x[a], x[a + 1], x[a + 2]);
      q.set(x[a + 4], x[a + 5], x[a + 6], x[a + 3]);
    };
    pose(k, position, turn);
    if (f > 0) {
      const p = new Vector3(), q = new Quaternion();
      pose(k + 1, p, q);
      position.lerp(p, f);
      turn.slerp(q, f);
    }
    return true;
  }

  value(column, {k, f} = this) {
    const {values} = this.columns[column];
    return f === 0 ? values[k] : values[k] * (1 - f) + values[k + 1] * f;
  }

  // Writes where a body is; between samples on the straight way, which for turns is the shortest.
  pose(body, position, turn, at = this) {
    if (at === this && this.moved && this.movedPose(body, position, turn)) return;
    const c = body.columns;
    turn.set(0, 0, 0, 1);
    position.set(0, 0, 0);
    if (body.motion === 'point') {
      position.set(...[0, 1, 2].map((i) => (i < c.length ? this.value(c[i], at) : 0)));
    } else if (body.motion === 'planar') {
      const half = this.value(c[2], at) / 2;
      position.set(this.value(c[0], at), this.value(c[1], at), 0);
      turn.set(0, 0, Math.sin(half), Math.cos(half));
    } else if (body.motion === 'rigid') {
      position.set(this.value(c[0], at), this.value(c[1], at), this.value(c[2], at));
      const sample = (k, q) => q.set(...[4, 5, 6, 3].map((i) => this.columns[c[i]].values[k])).normalize();
      sample(at.k, turn);
      if (at.f > 0) turn.slerp(sample(at.k + 1, new Quaternion()), at.f);
    }
  }
  track(i, position, {k, f} = this) {
    const p = this.tracks[i], a = 3 * k, b = f > 0 ? a + 3 : a;
    return position.set(p[a] * (1 - f) + p[b] * f, p[a + 1] * (1 - f) + p[b + 1] * f, p[a + 2] * (1 - f) + p[b + 2] * f);
  }

  // The way of a body's point r, or of a track, as numbers x, y, z.
  way(body, r) {
    const n = this.times.length, stride = Math.max(1, Math.floor(n / 4000)), out = [];
    const p = new Vector3(), q = new Quaternion();
    for (let k = 0; k < n; k += stride) {
      this.pose(body, p, q, {k, f: 0});
      const x = r.clone().applyQuaternion(q).add(p);
      out.push(x.x, x.y, x.z);
    }
    return out;
  }
}
