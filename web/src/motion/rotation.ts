// Orientations over time: the twin of `motion::rotation`.

import type { Quat } from '../wire/pose.ts';

const conjugate = ([x, y, z, w]: Quat): Quat => [-x, -y, -z, w];

function times([ax, ay, az, aw]: Quat, [bx, by, bz, bw]: Quat): Quat {
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

/** The orientation a share `u` of the short way from one to another. */
export function between(from: Quat, to: Quat, u: number): Quat {
  if (u >= 1 || (from[0] === to[0] && from[1] === to[1] && from[2] === to[2] && from[3] === to[3])) return to;
  let turn = times(conjugate(from), to);
  if (turn[3] < 0) turn = [-turn[0], -turn[1], -turn[2], -turn[3]];
  const sine = Math.hypot(turn[0], turn[1], turn[2]);
  if (sine < 1e-12) return from;
  const half = Math.atan2(sine, turn[3]) * Math.max(u, 0);
  const part = Math.sin(half) / sine;
  const turned = times(from, [turn[0] * part, turn[1] * part, turn[2] * part, Math.cos(half)]);
  const norm = Math.hypot(...turned);
  return [turned[0] / norm, turned[1] / norm, turned[2] / norm, turned[3] / norm];
}

/** An angle as the short way round, in radians. */
export function shortest(angle: number): number {
  if (angle < Math.PI && angle > -Math.PI) return angle;
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}
