// The picture: bodies, joints, forces and highlights in a scene that can be turned, zoomed and followed.
import {
  Box3, Color, DirectionalLight, Group, HemisphereLight, Mesh, PCFSoftShadowMap, PerspectiveCamera, PlaneGeometry,
  Quaternion, Raycaster, Scene, ShaderMaterial, ShadowMaterial, Vector2, Vector3, WebGLRenderer,
} from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';
import {bodyOf, glyphOf, lineOf, metal, palette, supportOf, triad, vector} from './shapes.js';

const themes = {
  light: {joint: '#565f6b', force: '#2f9e77', ground: '#8b95a1', grid: '#9aa6b4', gridOpacity: 0.5, shadow: 0.16, sky: 2.3, sun: 1.9},
  dark: {joint: '#b9c2cc', force: '#5fd0a5', ground: '#6d7783', grid: '#78828f', gridOpacity: 0.38, shadow: 0.5, sky: 1.8, sun: 1.9},
};
const kinds = {free: '#f08c1a', redundant: '#8a3ffc', conflicting: '#e5323e', remark: '#6a737d'};

const nice = (x) => {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * ([1, 2, 5].find((f) => x <= f * power) ?? 10);
};

// Lines that stay one pixel wide and fade away from the middle.
const gridOf = (extent, spacing, look) => new Mesh(new PlaneGeometry(extent, extent), new ShaderMaterial({
  transparent: true, depthWrite: false,
  uniforms: {spacing: {value: spacing}, extent: {value: extent}, colour: {value: new Color(look.grid)}, opacity: {value: look.gridOpacity}},
  vertexShader: 'varying vec2 at; void main() { at = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }',
  fragmentShader: `varying vec2 at; uniform float spacing, extent, opacity; uniform vec3 colour;
    float lines(float s) {
      vec2 x = at / s, w = fwidth(x), d = abs(fract(x - 0.5) - 0.5) / max(w, vec2(1e-6));
      vec2 thin = 1.0 - smoothstep(vec2(0.2), vec2(0.6), w);
      return max((1.0 - min(d.x, 1.0)) * thin.x, (1.0 - min(d.y, 1.0)) * thin.y);
    }
    void main() {
      float fade = 1.0 - smoothstep(0.15, 0.5, length(at) / extent);
      float a = max(lines(spacing) * 0.45, lines(5.0 * spacing)) * fade * opacity;
      if (a < 0.004) discard;
      gl_FragColor = vec4(colour, a);
      #include <colorspace_fragment>
    }`,
}));

export class Stage {
  constructor(run, canvas, labels, theme) {
    Object.assign(this, {run, canvas, labels});
    this.show = {joints: true, forces: true, names: false, trails: false, grid: true, findings: true};
    this.chosen = this.followed = null;
    this.renderer = new WebGLRenderer({canvas, antialias: true, alpha: true});
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.renderer.autoClear = false;
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(run.planar ? 10 : 28, 1, 0.01, 1000);
    const g = vector(run.gravity);
    this.up = g.length() > 0 ? g.clone().normalize().negate() : run.planar ? new Vector3(0, 1, 0) : new Vector3(0, 0, 1);
    this.camera.up.copy(run.planar ? new Vector3(0, 1, 0) : this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', () => { this.dirty = true; });
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.corner = new Scene();
    this.corner.add(triad(), new HemisphereLight('#ffffff', '#888888', 3));
    this.cornerCamera = new PerspectiveCamera(30, 1, 0.1, 20);
    this.ray = new Raycaster();
    this.makeLights();
    this.build(theme);
  }

  makeLights() {
    this.sky = new HemisphereLight('#ffffff', '#8d97a5', 2);
    this.sky.position.copy(this.up);
    this.sun = new DirectionalLight('#ffffff', 2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.02;
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  // Everything that is drawn, in the colours of the theme.
  build(theme) {
    const {run} = this, look = {...themes[theme], thickness: run.thickness, size: run.size, planar: run.planar};
    this.look = look;
    if (this.world) this.scene.remove(this.world);
    this.world = new Group();
    this.scene.add(this.world);
    this.labels.replaceChildren();
    this.sky.intensity = look.sky;
    this.sun.intensity = look.sun;

    // Bodies that share a joint lie in different layers, so that plates do not lie in each other.
    const layers = [], neighbours = run.bodies.map(() => []);
    for (const {bodies} of run.joints) for (const a of bodies) neighbours[a].push(...bodies.filter((b) => run.bodies[b].motion !== 'fixed'));
    run.bodies.forEach((body, i) => {
      const near = neighbours[i].filter((k) => k < i).map((k) => layers[k]);
      layers[i] = [0, 1, -1, 2, -2].find((layer) => !near.includes(layer)) ?? 0;
    });
    let index = 0;
    this.bodies = run.bodies.map((body, i) => {
      const colour = body.motion === 'fixed' ? look.ground : palette[index++ % palette.length];
      const group = new Group(), form = bodyOf(body, colour, run.thickness, run.bodies.length > 200 ? 16 : 48);
      if (run.planar) form.position.z = 0.75 * run.thickness * layers[i];
      group.add(form);
      this.world.add(group);
      const made = {body, colour, group, form, materials: form.materials, nodes: [], bars: []};
      if (body.motion === 'elastic') this.addNodes(made);
      form.traverse((o) => { o.owner = made; });
      return made;
    });
    this.parts = [];
    const add = (list, group) => list.forEach((part) => {
      part.force = group !== 'joints';
      part.range = this.range(part);
      const {object, update} = glyphOf(part, look);
      this.world.add(object);
      const made = {part, group, object, update, materials: object.materials, supports: []};
      object.traverse((o) => { o.owner = made; });
      if (group === 'joints') this.addSupports(made);
      this.parts.push(made);
    });
    add(run.joints, 'joints');
    add(run.forces, 'forces');
    add(run.sensors, 'sensors');
    this.addGrid();
    this.addFindings();
    this.addNames();
    this.trails = null;
    this.update();
  }

  addNodes(made) {
    const {run} = this, material = metal(made.colour), pieces = bodyOf({pieces: [
      {type: 'sphere', size: [1.5 * run.thickness, 0, 0], at: [0, 0, 0], turn: [0, 0, 0, 1], corners: [], colour: made.colour}]}, made.colour, 1);
    made.materials.push(material);
    for (const track of made.body.nodes) {
      const node = pieces.clone();
      made.nodes.push({node, track});
      made.form.add(node);
    }
    for (const edge of made.body.edges) {
      const {object, update} = glyphOf({kind: 'distance', points: []}, {...this.look, joint: made.colour, thickness: 3 * run.thickness});
      made.bars.push({edge, update});
      made.form.add(object);
    }
  }

  // How far B goes along an axis of A in the run.
  range(part) {
    const [a, b] = [part.points[0], part.points[part.points.length - 1]], [axis] = part.axes, {run} = this;
    if (part.points.length < 2 || !axis || a.body !== axis.body || b.body === undefined) return null;
    const p = new Vector3(), q = new Quaternion(), n = run.times.length, stride = Math.max(1, Math.floor(n / 100));
    const at = (point, k) => {
      run.pose(run.bodies[point.body], p, q, {k, f: 0});
      return vector(point.at).applyQuaternion(q).add(p);
    };
    let least = 0, most = 0;
    for (let k = 0; k < n; k += stride) {
      const from = at(a, k), along = vector(axis.along).applyQuaternion(q), way = at(b, k).sub(from).dot(along);
      least = Math.min(least, way);
      most = Math.max(most, way);
    }
    return [least, most];
  }

  addSupports(made) {
    const rails = ['slider', 'prismatic', 'cylindrical', 'screw', 'point_on_line', 'planar_point_on_line', 'rolling_wheel',
      'rolling_disk', 'rolling_sphere', 'point_on_plane', 'planar_joint'];
    if (rails.includes(made.part.kind)) return;
    for (const p of made.part.points)
      if (p.body !== undefined && this.run.bodies[p.body].motion === 'fixed') {
        // Below the joint; in space at the end of its shaft, where it has one.
        const support = supportOf(this.look), shaft = !this.run.planar && made.part.axes.find((a) => a.body === p.body);
        support.position.copy(vector(p.at));
        support.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), this.run.planar ? new Vector3(0, 1, 0) : shaft ? vector(shaft.along).negate() : this.up);
        if (shaft) support.position.addScaledVector(vector(shaft.along), 0.9 * this.run.thickness);
        this.world.add(support);
        made.supports.push(support);
      }
  }

  addGrid() {
    const {run, look} = this, least = vector(run.least), most = vector(run.most), middle = least.clone().add(most).multiplyScalar(0.5);
    const extent = 5 * Math.max(run.size, most.distanceTo(least));
    this.spacing = nice(run.size / 8);
    this.grid = new Group();
    const grid = gridOf(extent, this.spacing, look);
    const floor = new Mesh(new PlaneGeometry(extent, extent), new ShadowMaterial({opacity: look.shadow}));
    floor.receiveShadow = true;
    floor.position.z = -1e-3 * run.size;
    this.grid.add(grid, floor);
    const snap = (x) => Math.round(x / (5 * this.spacing)) * 5 * this.spacing;
    if (run.planar) {
      this.grid.position.set(snap(middle.x), snap(middle.y), -3.2 * run.thickness);
    } else {
      this.grid.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), this.up);
      // The lowest point that anything reaches, with its own size.
      const box = new Box3();
      this.update();
      box.setFromObject(this.world);
      const reach = new Vector3(), low = [];
      for (const x of ['min', 'max']) for (const y of ['min', 'max']) for (const z of ['min', 'max'])
        low.push(reach.set(box[x].x, box[y].y, box[z].z).dot(this.up));
      const least_up = [least, most].flatMap((a) => [least, most].flatMap((b) => [least, most].map((c) => new Vector3(a.x, b.y, c.z).dot(this.up))));
      const height = Math.min(...low, Math.min(...least_up) - 2 * run.thickness) - 0.5 * run.thickness;
      const flat = middle.clone().addScaledVector(this.up, -middle.dot(this.up));
      this.grid.position.copy(flat.set(snap(flat.x), snap(flat.y), snap(flat.z)));
      this.grid.position.addScaledVector(this.up, height - this.grid.position.dot(this.up));
    }
    this.world.add(this.grid);
  }

  // What is pointed out: colours that pulse, a ghost that moves along a free direction, the text beside it.
  addFindings() {
    this.ghosts = [];
    this.callouts = document.createElement('div');
    this.callouts.id = 'callouts';
    this.leaders = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.leaders.id = 'leaders';
    this.labels.append(this.leaders, this.callouts);
    this.findings = this.run.highlights.map((h) => {
      const colour = new Color(kinds[h.kind] ?? kinds.remark);
      const bodies = this.bodies.filter((b) => h.bodies.includes(b.body.name));
      const joints = this.parts.filter((p) => p.group === 'joints' && h.joints.includes(p.part.name));
      const materials = [...bodies, ...joints].flatMap((x) => x.materials);
      for (const x of joints) for (const m of x.materials) m.color.copy(colour);
      const finding = {h, colour, bodies, joints, materials};
      if (h.motion.length) this.addGhosts(finding);
      if (bodies.length || joints.length) {
        const callout = document.createElement('div');
        callout.className = `callout ${h.kind}`;
        const head = document.createElement('b'), text = document.createElement('span');
        head.textContent = h.kind === 'free' ? 'free direction' : `${h.kind} row`;
        text.textContent = h.text;
        callout.append(head, text);
        this.callouts.append(callout);
        finding.callout = callout;
        finding.leader = ['line', 'circle'].map((tag) => this.leaders.appendChild(document.createElementNS('http://www.w3.org/2000/svg', tag)));
        for (const e of finding.leader) e.setAttribute('class', h.kind);
      }
      return finding;
    });
  }
  addGhosts(finding) {
    // As far as is seen well: an eighth of the picture, or a quarter of a right angle and more.
    let factor = Infinity;
    for (const {body, change} of finding.h.motion) {
      const {motion} = this.run.bodies[body], way = Math.hypot(...(motion === 'planar' ? change.slice(0, 2) : change.slice(0, 3)));
      const turn = motion === 'planar' ? Math.abs(change[2]) : motion === 'rigid' ? 2 * Math.hypot(...change.slice(3)) : 0;
      if (way > 0) factor = Math.min(factor, 0.13 * this.run.size / way);
      if (turn > 0) factor = Math.min(factor, 0.5 / turn);
    }
    for (const {body, change} of finding.h.motion) {
      const made = this.bodies[body], ghost = made.form.clone(true);
      ghost.traverse((o) => {
        o.castShadow = o.receiveShadow = false;
        if (o.material) {
          o.material = o.material.clone();
          o.material.color.copy(finding.colour);
          Object.assign(o.material, {transparent: true, opacity: 0.26, depthWrite: false});
        }
      });
      const group = new Group();
      group.add(ghost);
      this.world.add(group);
      this.ghosts.push({made, group, change: change.map((x) => x * factor)});
    }
  }
  moveGhosts(seconds) {
    const s = Math.sin(2.2 * seconds), {run} = this;
    for (const {made, group, change} of this.ghosts) {
      const {motion} = made.body;
      run.pose(made.body, group.position, group.quaternion);
      group.position.add(new Vector3(change[0] * s, (change[1] ?? 0) * s, motion === 'planar' ? 0 : (change[2] ?? 0) * s));
      if (motion === 'planar') group.quaternion.premultiply(new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), change[2] * s));
      if (motion === 'rigid') {
        const q = group.quaternion;
        q.set(q.x + change[4] * s, q.y + change[5] * s, q.z + change[6] * s, q.w + change[3] * s).normalize();
      }
      group.visible = this.show.findings;
    }
    const glow = 0.28 + 0.22 * Math.sin(3.2 * seconds);
    for (const f of this.findings)
      for (const m of f.materials)
        if (m.emissive) m.emissive.copy(f.colour).multiplyScalar(this.show.findings ? glow : 0);
  }

  addNames() {
    this.names = this.bodies.filter((b) => b.body.motion !== 'fixed' && b.body.motion !== 'unknown').map((made) => {
      const label = document.createElement('div');
      label.className = 'label';
      label.textContent = made.body.name;
      this.labels.append(label);
      return {made, label};
    });
  }

  // Where a point of a part is in the world.
  place(point) {
    if (point.track !== undefined) return this.run.track(point.track, new Vector3());
    const {group} = this.bodies[point.body];
    return vector(point.at).applyQuaternion(group.quaternion).add(group.position);
  }

  // Puts everything where it is at the run's time.
  update() {
    const {run} = this;
    const before = this.followed && this.middle(this.followed);
    for (const {body, group, nodes, bars} of this.bodies) {
      run.pose(body, group.position, group.quaternion);
      for (const {node, track} of nodes) run.track(track, node.position);
      for (const {edge, update} of bars) update(edge.map((i) => nodes[i].node.position.clone()), []);
      group.updateMatrixWorld();
    }
    for (const {part, update, object, group, supports} of this.parts) {
      const axes = part.axes.map((a) => vector(a.along).applyQuaternion(this.bodies[a.body].group.quaternion).normalize());
      object.visible = true;
      update(part.points.map((p) => this.place(p)), axes);
      const shown = group === 'forces' ? this.show.forces : this.show.joints;
      object.visible = object.visible && shown && (group !== 'sensors' || this.show.joints);
      for (const s of supports) s.visible = shown;
    }
    if (this.grid) this.grid.visible = this.show.grid;
    if (before) {
      const way = this.middle(this.followed).sub(before);
      this.camera.position.add(way);
      this.controls.target.add(way);
    }
    this.dirty = true;
  }

  // The middle of what a body or joint looks like.
  middle(made) {
    if (made.object) return made.part.points.length ? this.place(made.part.points[made.part.points.length - 1]) : this.middle(this.bodies[made.part.bodies[0]]);
    if (made.nodes.length) return made.nodes[0].node.position.clone();
    const [piece] = made.body.pieces;
    const at = !piece ? new Vector3() : piece.type !== 'plate' ? vector(piece.at)
      : piece.corners.reduce((sum, c) => sum.add(vector(c)), new Vector3()).divideScalar(piece.corners.length);
    return at.applyQuaternion(made.group.quaternion).add(made.group.position);
  }

  // The whole motion in view; where it goes far, what there is at the start.
  frame() {
    const {run, camera, controls} = this, th = run.thickness;
    let least = vector(run.least), most = vector(run.most);
    const box = new Box3();
    for (const b of this.bodies) if (b.body.motion !== 'fixed') box.expandByObject(b.form);
    const far = most.distanceTo(least) > 5 * run.size;
    if (far || box.isEmpty() === false) {
      if (far) least = box.min.clone(), most = box.max.clone();
      else least.min(box.min), most.max(box.max);
    }
    least.addScalar(-2 * th);
    most.addScalar(2 * th);
    if (run.planar) least.y -= 3 * th;
    const middle = least.clone().add(most).multiplyScalar(0.5), aspect = ((this.w ?? 1) - 2 * this.aside) / (this.h || 1), tan = Math.tan((camera.fov * Math.PI) / 360);
    const direction = new Vector3(0, 0, 1);
    if (!run.planar) {
      const side = new Vector3(1, 0, 0);
      if (Math.abs(side.dot(this.up)) > 0.9) side.set(0, 1, 0);
      side.addScaledVector(this.up, -side.dot(this.up)).normalize();
      const front = this.up.clone().cross(side).negate();
      direction.copy(side).multiplyScalar(0.62).addScaledVector(front, 0.95).addScaledVector(this.up, 0.48).normalize();
    }
    // As near as the corners of the box allow, with a margin.
    const right = camera.up.clone().cross(direction).normalize(), above = direction.clone().cross(right);
    let distance = 4 * th;
    for (const x of [least.x, most.x]) for (const y of [least.y, most.y]) for (const z of [least.z, most.z]) {
      const r = new Vector3(x, y, z).sub(middle), near = r.dot(direction);
      distance = Math.max(distance, near + Math.abs(r.dot(right)) / (tan * aspect), near + Math.abs(r.dot(above)) / tan);
    }
    distance *= 1.1;
    controls.target.copy(middle);
    camera.position.copy(middle).addScaledVector(direction, distance);
    camera.near = distance / 200;
    camera.far = distance * 60;
    camera.updateProjectionMatrix();
    controls.update();
    const extent = Math.max(run.size, most.distanceTo(least));
    const light = run.planar ? new Vector3(-0.35, 0.55, 1) : this.up.clone().multiplyScalar(1.25).addScaledVector(direction, 0.6).add(new Vector3(-0.35, 0.1, 0.2));
    this.sun.target.position.copy(middle);
    this.sun.position.copy(middle).addScaledVector(light.normalize(), 2.5 * extent);
    Object.assign(this.sun.shadow.camera, {left: -extent, right: extent, top: extent, bottom: -extent, near: 0.1 * extent, far: 6 * extent});
    this.sun.shadow.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  turn(right, upward) {
    const offset = this.camera.position.clone().sub(this.controls.target), up = this.camera.up;
    const side = up.clone().cross(offset).normalize();
    const pitch = offset.angleTo(up), next = Math.min(Math.PI - 0.05, Math.max(0.05, pitch - upward));
    offset.applyAxisAngle(side, next - pitch).applyAxisAngle(up, right);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.dirty = true;
  }
  zoom(factor) {
    this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
    this.controls.update();
    this.dirty = true;
  }

  choose(made) {
    for (const m of this.chosen?.materials ?? []) if (m.emissive) m.emissive.set(0);
    this.chosen = made;
    for (const m of made?.materials ?? []) if (m.emissive) m.emissive.set('#2f6fc0').multiplyScalar(0.55);
    if (this.trails) this.trails.forEach((t) => this.world.remove(t));
    this.trails = null;
    if (this.show.trails) {
      const {run} = this, out = [];
      const add = (numbers, colour) => out.push(lineOf(numbers, colour));
      const bodies = made?.body ? [made] : this.bodies.filter((b) => ['point', 'planar', 'rigid'].includes(b.body.motion));
      for (const b of bodies) {
        const inverse = b.group.quaternion.clone().invert();
        const r = this.middle(b).sub(b.group.position).applyQuaternion(inverse);
        if (b.body.motion !== 'elastic') add(run.way(b.body, r), b.colour);
      }
      for (const s of run.sensors)
        for (const p of s.points) if (p.body !== undefined) add(run.way(run.bodies[p.body], vector(p.at)), this.look.force);
      this.trails = out;
      out.forEach((t) => this.world.add(t));
    }
    this.dirty = true;
  }

  pick(x, y) {
    const box = this.canvas.getBoundingClientRect();
    this.ray.setFromCamera(new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2), this.camera);
    this.ray.params.Line.threshold = 0.3 * this.run.thickness;
    const seen = (o) => { for (; o; o = o.parent) if (!o.visible) return false; return true; };
    return this.ray.intersectObjects([...this.bodies.map((b) => b.form), ...this.parts.map((p) => p.object)], true)
      .find((hit) => hit.object.owner && seen(hit.object))?.object.owner ?? null;
  }

  project(point) {
    const p = point.clone().project(this.camera);
    return {x: ((p.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - p.y) / 2) * this.canvas.clientHeight, behind: p.z > 1};
  }

  placeLabels() {
    const put = (element, made, dx, dy, shown) => {
      if (!shown) return void (element.hidden = true);
      const {x, y, behind} = this.project(this.middle(made));
      element.hidden = behind;
      if (!element.hidden) element.style.transform = `translate(${(x + dx).toFixed(1)}px, ${(y + dy).toFixed(1)}px)`;
    };
    for (const {made, label} of this.names) put(label, made, 8, -24, this.show.names);
    const most = 4;
    let shown = 0;
    for (const f of this.findings) {
      if (!f.callout) continue;
      const chosen = this.chosen && (f.bodies.includes(this.chosen) || f.joints.includes(this.chosen));
      const visible = this.show.findings && (chosen || shown < most);
      f.callout.hidden = !visible;
      if (visible) ++shown;
      // From the text to the part, with a ring around it.
      const {x, y, behind} = this.project(this.middle(f.bodies[0] ?? f.joints[0])), [line, ring] = f.leader;
      for (const e of f.leader) e.style.display = visible && !behind ? '' : 'none';
      if (!visible) continue;
      const x0 = f.callout.offsetLeft + 12 + f.callout.offsetWidth, y0 = f.callout.offsetTop + 12 + f.callout.offsetHeight / 2;
      const d = Math.max(1, Math.hypot(x - x0, y - y0)), r = 15;
      const set = (e, values) => Object.entries(values).forEach(([k, v]) => e.setAttribute(k, v.toFixed(1)));
      set(line, {x1: x0, y1: y0, x2: x - (r * (x - x0)) / d, y2: y - (r * (y - y0)) / d});
      set(ring, {cx: x, cy: y, r});
    }
  }

  // [px] by which the picture stands to the right of the middle, to leave room for the texts of findings.
  get aside() { return this.findings.some((f) => f.callout) && this.w > 800 ? 132 : 0; }

  resize() {
    const {clientWidth: w, clientHeight: h} = this.canvas.parentElement;
    if (w === this.w && h === this.h) return;
    Object.assign(this, {w, h});
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / Math.max(1, h);
    this.camera.setViewOffset(w, h, -this.aside, 0, w, h);
    this.settling = 20;
  }

  draw(seconds) {
    this.resize();
    if (this.findings.some((f) => f.materials.length) && this.show.findings) {
      this.moveGhosts(seconds);
      this.dirty = true;
    }
    // Some browsers show the first frame of a canvas of a new size without its transparency: draw a few more.
    if (this.settling > 0) --this.settling; else if (!this.dirty) return;
    this.dirty = false;
    const {renderer} = this;
    renderer.setViewport(0, 0, this.w, this.h);
    renderer.clear();
    renderer.render(this.scene, this.camera);
    const side = Math.min(84, this.h / 4);
    this.cornerCamera.position.copy(this.camera.position).sub(this.controls.target).setLength(4.6);
    this.cornerCamera.up.copy(this.camera.up);
    this.cornerCamera.lookAt(0, 0, 0);
    renderer.clearDepth();
    renderer.setViewport(6, 6, side, side);
    renderer.render(this.corner, this.cornerCamera);
    this.placeLabels();
  }
}
