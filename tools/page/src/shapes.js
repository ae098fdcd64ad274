// Bodies, joints and forces as objects of three.js.
import {BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, ConeGeometry, Curve, CylinderGeometry, DoubleSide, EdgesGeometry, ExtrudeGeometry, Float32BufferAttribute, Group, IcosahedronGeometry, Line, LineBasicMaterial, LineDashedMaterial, LineSegments, Mesh, MeshStandardMaterial, RingGeometry, Shape, SphereGeometry, TorusGeometry, TubeGeometry, Vector3,} from 'three';
import {toCreasedNormals} from 'three/examples/jsm/utils/BufferGeometryUtils.js';

const Z = new Vector3(0, 0, 1), Y = new Vector3(0, 1, 0);
const vector = (a) => new Vector3(a[0], a[1], a[2]);

export const palette = ['#4c86c6', '#e0884f', '#5fa777', '#a678c2', '#c9a53d', '#4aa5b3', '#d0708f', '#7f8a99'];

export const metal = (colour, more = {}) =>
  new MeshStandardMaterial({color: colour, roughness: 0.5, metalness: 0.15, ...more});

const solid = (geometry, material) => {
  const mesh = new Mesh(geometry, material);
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
};

// The convex hull of points of the plane, counter-clockwise.
const hull = (points) => {
  const p = points.map(([x, y]) => [x, y]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const out = [];
    for (const c of list) {
      while (out.length > 1) {
        const [a, b] = out.slice(-2);
        if ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0) break;
        out.pop();
      }
      out.push(c);
    }
    return out.slice(0, -1);
  };
  return [...half(p), ...half(p.reverse())];
};

// A plate: everything within r of the hull of its corners.
const plate = (corners, r, thickness) => {
  const h = hull(corners), shape = new Shape();
  h.forEach((b, i) => {
    const a = h[(i + h.length - 1) % h.length], c = h[(i + 1) % h.length];
    const out = (from, to) => Math.atan2(to[1] - from[1], to[0] - from[0]) - Math.PI / 2;
    let from = out(a, b), to = out(b, c);
    while (to < from) to += 2 * Math.PI;
    if (i === 0) shape.moveTo(b[0] + r * Math.cos(from), b[1] + r * Math.sin(from));
    shape.absarc(b[0], b[1], r, from, to, false);
  });
  shape.closePath();
  const bevel = 0.12 * thickness;
  const geometry = new ExtrudeGeometry(shape, {
    depth: thickness - 2 * bevel, bevelThickness: bevel, bevelSize: bevel, bevelOffset: -bevel, bevelSegments: 2,
    curveSegments: 20,
  });
  return geometry.translate(0, 0, -thickness / 2 + bevel);
};

// Round ones of so many sides.
const geometryOf = (piece, sides = 48) => {
  const [a, b, c] = piece.size;
  switch (piece.type) {
    case 'box': return new BoxGeometry(a, b, c);
    case 'sphere': return new SphereGeometry(a / 2, sides, sides / 2);
    case 'cylinder': return new CylinderGeometry(a / 2, a / 2, b, 56).rotateX(Math.PI / 2);
    case 'mesh': {
      const geometry = new BufferGeometry();
      geometry.setAttribute('position', new BufferAttribute(piece.surface.points, 3));
      geometry.setIndex(new BufferAttribute(piece.surface.corners, 1));
      return once('mesh', [piece.mesh, ...piece.size], () => toCreasedNormals(geometry.clone().scale(a, b, c), 0.6));
    }
    case 'rod': return new CapsuleGeometry(a / 2, Math.max(b - a, 1e-9), Math.max(2, sides / 4), sides).rotateX(Math.PI / 2);
    default: return plate(piece.corners, a / 2, c);
  }
};

// A mark on a disk or ball, so that its turning is seen.
const spoke = (piece, material) => {
  const [d, l] = piece.size, group = new Group();
  if (piece.type === 'cylinder' && d > l) {
    const bar = solid(new BoxGeometry(0.86 * d, 0.07 * d, 1.06 * l), material);
    const ring = solid(new TorusGeometry(0.44 * d, 0.03 * d, 10, 56), material);
    group.add(bar, ring);
  }
  return group;
};

// A body: its pieces in one group; outlined where it has no mass.
export const bodyOf = (body, colour, thickness, sides = 48) => {
  const group = new Group(), materials = [];
  for (const piece of body.pieces) {
    const geometry = geometryOf(piece, sides), own = piece.colour || colour;
    const place = new Group();
    place.position.set(...piece.at);
    place.quaternion.set(...piece.turn);
    if (piece.outline) {
      const skin = metal(own, {transparent: true, opacity: 0.13, depthWrite: false, side: DoubleSide});
      const rims = ['sphere', 'rod'].includes(piece.type) ? new EdgesGeometry(geometryOf(piece, 8), 1) : new EdgesGeometry(geometry, 32);
      const edges = new LineSegments(rims, new LineDashedMaterial({color: own, dashSize: 0.7 * thickness, gapSize: 0.4 * thickness}));
      edges.computeLineDistances();
      materials.push(skin, edges.material);
      place.add(new Mesh(geometry, skin), edges);
    } else {
      const material = metal(own);
      materials.push(material);
      place.add(solid(geometry, material));
      if (piece.type === 'cylinder') place.add(spoke(piece, metal(own, {roughness: 0.7})));
    }
    group.add(place);
  }
  group.materials = materials;
  return group;
};

// Joints and forces.  Each glyph has an object and update(points, axes), with points and axes of the world.
// Many joints look alike: their geometries are made once.
const made = new Map();
const once = (name, sizes, make) => {
  const key = `${name} ${sizes}`;
  if (!made.has(key)) made.set(key, make(...sizes));
  return made.get(key);
};
const ball = (r, material) => solid(once('ball', [r], () => new SphereGeometry(r, 28, 20)), material);
const round = (r, length, z, material) =>  // a cylinder along z
  solid(once('round', [r, length, z], () => new CylinderGeometry(r, r, length, 28).rotateX(Math.PI / 2).translate(0, 0, z)), material);
const bar = (r, material) => round(r, 1, 0, material);
const along = (object, from, to) => {
  const d = to.clone().sub(from), l = d.length();
  object.position.copy(from).add(to).multiplyScalar(0.5);
  object.scale.set(1, 1, Math.max(l, 1e-9));
  if (l > 0) object.quaternion.setFromUnitVectors(Z, d.divideScalar(l));
};
const turnTo = (object, axis) => object.quaternion.setFromUnitVectors(Z, axis);

class Coil extends Curve {
  constructor(turns, r) { super(); Object.assign(this, {turns, r}); }
  getPoint(u, target = new Vector3()) {
    const lead = 0.12, s = Math.min(1, Math.max(0, (u - lead) / (1 - 2 * lead)));
    const inside = Math.min(1, Math.min(u, 1 - u) / lead), a = 2 * Math.PI * this.turns * s;
    const r = u < lead || u > 1 - lead ? this.r * Math.max(0, inside - 0.5) * 2 : this.r;
    return target.set(r * Math.cos(a), r * Math.sin(a), u - 0.5);
  }
}

export const glyphOf = (part, look) => {
  const {thickness: th, size, planar} = look, object = new Group(), {kind} = part;
  const material = metal(look.joint, {metalness: 0.35, roughness: 0.4}), force = metal(look.force);
  const materials = [material, force];
  const axisOr = (axes) => (planar && !axes.length ? Z : axes[0] ?? Z);
  let update = () => {};
  const at = (...children) => {  // something at the last point, turned along the axis
    object.add(...children);
    return (points, axes, axis = axisOr(axes)) => {
      object.visible = points.length > 0;
      if (points.length) object.position.copy(points[points.length - 1]);
      turnTo(object, axis);
    };
  };
  const link = (piece) => {
    object.add(piece);
    return (points) => {
      object.visible = points.length > 1;
      if (points.length > 1) along(piece, points[0], points[points.length - 1]);
    };
  };
  // A rail of A along the axis, and what slides on it, at the point of B.
  const rail = (slider) => {
    const line = bar(0.22 * th, material);
    object.add(line, slider);
    return (points, axes) => {
      object.visible = points.length > 0;
      if (!points.length) return;
      const axis = axes[0] ?? Z, a = points[0], b = points[points.length - 1];
      const [least, most] = part.range ?? [-0.3 * size, 0.3 * size], more = 3.5 * th;
      along(line, a.clone().addScaledVector(axis, least - more), a.clone().addScaledVector(axis, most + more));
      slider.position.copy(b);
      turnTo(slider, axis);
    };
  };
  const plane = (child) => {  // a patch of a plane of A, and a thing at B
    const skin = metal(look.joint, {transparent: true, opacity: 0.16, side: DoubleSide, depthWrite: false});
    const patch = new Mesh(new RingGeometry(0, 0.28 * size, 48), skin);
    object.add(patch, child);
    return (points, axes) => {
      object.visible = points.length > 0;
      if (!points.length) return;
      const axis = axes[0] ?? Z, b = points[points.length - 1];
      const foot = b.clone().addScaledVector(axis, -b.clone().sub(points[0]).dot(axis));
      patch.position.copy(foot);
      turnTo(patch, axis);
      child.position.copy(b);
    };
  };
  const sleeve = (turns) => turns ? round(0.95 * th, 3.2 * th, 0, material) : solid(new BoxGeometry(1.9 * th, 1.9 * th, 3.2 * th), material);

  switch (kind) {
    case 'pin': case 'revolute': {
      const long = planar ? 4.6 * th : 3.4 * th, r = planar ? 0.5 * th : 0.62 * th;
      const cap = (z) => round(1.35 * r, 0.35 * th, z, material);
      update = at(round(r, long, 0, material), cap(long / 2), cap(-long / 2));
      break;
    }
    case 'spherical': case 'constant_velocity': update = at(ball(1.05 * th, material)); break;
    case 'universal': {
      const arms = [bar(0.3 * th, material), bar(0.3 * th, material)];
      object.add(ball(0.6 * th, material), ...arms);
      update = (points, axes) => {
        object.visible = points.length > 0;
        if (points.length) object.position.copy(points[0]);
        arms.forEach((arm, i) => {
          arm.scale.set(1, 1, 3.4 * th);
          turnTo(arm, axes[i] ?? Z);
        });
      };
      break;
    }
    case 'slider': case 'prismatic': update = rail(sleeve(false)); break;
    case 'cylindrical': case 'screw': update = rail(sleeve(true)); break;
    case 'point_on_line': case 'planar_point_on_line': update = rail(ball(0.9 * th, material)); break;
    case 'point_on_plane': case 'planar_joint': update = plane(ball(0.9 * th, material)); break;
    case 'rolling_disk': case 'rolling_sphere': update = plane(new Group()); break;
    case 'rolling_wheel': {
      const line = bar(0.16 * th, material);
      object.add(line);
      update = (points, axes) => {
        object.visible = points.length > 1 && axes.length > 0;
        if (!object.visible) return;
        const [a] = points, axis = axes[0], [least, most] = part.range ?? [-size, size], more = 0.6 * size;
        along(line, a.clone().addScaledVector(axis, least - more), a.clone().addScaledVector(axis, most + more));
      };
      break;
    }
    case 'weld': case 'planar_weld': update = at(solid(new BoxGeometry(1.5 * th, 1.5 * th, 1.5 * th), material)); break;
    case 'distance': case 'drive_distance': {
      const rod = bar(0.26 * th, material), ends = [ball(0.45 * th, material), ball(0.45 * th, material)];
      const put = link(rod);
      object.add(...ends);
      update = (points) => {
        put(points);
        ends.forEach((e, i) => points[i] && e.position.copy(points[i]));
      };
      break;
    }
    case 'rope': {
      const pieces = part.points.slice(1).map(() => bar(0.2 * th, material));
      if (pieces.length) object.add(...pieces);
      update = (points) => {
        object.visible = points.length === pieces.length + 1;
        if (object.visible) pieces.forEach((piece, i) => along(piece, points[i], points[i + 1]));
      };
      break;
    }
    case 'spring': case 'nonlinear_spring':
      update = link(solid(once('coil', [th], () => new TubeGeometry(new Coil(8, 1.15 * th), 220, 0.2 * th, 8)), force));
      break;
    case 'bushing': {
      const skin = metal(look.force, {transparent: true, opacity: 0.55});
      materials.push(skin);
      update = at(ball(1.5 * th, skin), ball(0.6 * th, force));
      break;
    }
    case 'applied_force': case 'drag': {
      const head = solid(new ConeGeometry(0.7 * th, 1.8 * th, 24).rotateX(Math.PI / 2).translate(0, 0, -0.9 * th), force);
      update = at(head);
      break;
    }
    case 'point_sensor':
      update = at(solid(new TorusGeometry(1.5 * th, 0.14 * th, 8, 40), force), ball(0.3 * th, force));
      break;
    default:
      if (part.points.length) update = at(solid(new IcosahedronGeometry(0.85 * th, 0), part.force ? force : material));
      else object.visible = false;
  }
  object.materials = materials;
  return {object, update};
};

// Where a joint holds the ground: the sign of the books in the plane, a foot in space.
export const supportOf = (look) => {
  const {thickness: th, planar} = look, group = new Group();
  const material = metal(look.ground, {roughness: 0.85, metalness: 0});
  if (planar) {
    const shape = new Shape();
    shape.moveTo(0, 0);
    shape.lineTo(-1.9 * th, -3 * th);
    shape.lineTo(1.9 * th, -3 * th);
    shape.closePath();
    const z = -2.2 * th;
    group.add(solid(new ExtrudeGeometry(shape, {depth: 0.5 * th, bevelEnabled: false}).translate(0, 0, z), material));
    group.add(solid(new BoxGeometry(5.6 * th, 0.35 * th, 0.5 * th).translate(0, -3.15 * th, z + 0.25 * th), material));
    const lines = [];
    for (let i = -3; i < 4; ++i) lines.push(0.78 * i * th, -3.3 * th, z, 0.78 * i * th - 0.7 * th, -4.2 * th, z);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(lines, 3));
    group.add(new LineSegments(geometry, new LineBasicMaterial({color: look.ground})));
  } else {
    group.add(solid(new CylinderGeometry(0.5 * th, 1.5 * th, 2.4 * th, 28).translate(0, -1.5 * th, 0), material));
    group.add(solid(new CylinderGeometry(2 * th, 2 * th, 0.35 * th, 28).translate(0, -2.85 * th, 0), material));
  }
  return group;  // below it is -y
};

export const lineOf = (numbers, colour) => {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(numbers, 3));
  return new Line(geometry, new LineBasicMaterial({color: colour, transparent: true, opacity: 0.75}));
};

// Three axes in the corner.
export const triad = () => {
  const group = new Group();
  [['#d1495b', new Vector3(1, 0, 0)], ['#3f9b5f', Y.clone()], ['#3b7dd8', Z.clone()]].forEach(([colour, d]) => {
    const arm = bar(0.045, metal(colour)), head = solid(new ConeGeometry(0.12, 0.3, 20).rotateX(Math.PI / 2), metal(colour));
    along(arm, new Vector3(), d.clone().multiplyScalar(0.8));
    turnTo(head, d);
    head.position.copy(d).multiplyScalar(0.9);
    group.add(arm, head);
  });
  return group;
};

export {vector};
