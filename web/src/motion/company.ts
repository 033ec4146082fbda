// Collisions among the others, as one observer predicts them for itself: the twin of `motion::company`.

import { advance } from './advance.ts';
import { CONTACTS_MAX, type Trajectory } from './trajectory.ts';
import type { Predicted, Replica } from './replica.ts';
import type { Scene } from './scene.ts';
import { UP, type Vec, add, dot, length, normalizeOr, scale, sub } from './vector.ts';

interface Meeting {
  readonly first: number;
  readonly second: number;
  next: number | null;
}

/** Predicts all replicas at a moment, bounces among them included. */
export function predictTogether(
  replicas: readonly Replica[],
  at: number,
  scene: Scene,
): { predicted: (Predicted | null)[]; contacts: number } {
  const predicted = replicas.map((replica) => replica.predict(at, scene));
  const trajectories = replicas.map((replica) => (replica.isStale(at) ? null : (replica.trajectory?.copy() ?? null)));
  const meetings: Meeting[] = [];
  for (let first = 0; first < replicas.length; first++) {
    for (let second = first + 1; second < replicas.length; second++) {
      if (trajectories[first] === null || trajectories[second] === null) continue;
      meetings.push({ first, second, next: null });
    }
  }
  const look = (meeting: Meeting) => {
    meeting.next = meets(trajectories[meeting.first]!, trajectories[meeting.second]!, at);
  };
  meetings.forEach(look);
  let contacts = 0;
  for (let round = 0; round < replicas.length * CONTACTS_MAX; round++) {
    let soonest: Meeting | null = null;
    for (const meeting of meetings) {
      if (meeting.next === null) continue;
      // Meetings are in order of their pairs: the first of equals stays.
      if (soonest === null || meeting.next < soonest.next!) soonest = meeting;
    }
    if (soonest === null) break;
    contacts += 1;
    const { first, second } = soonest;
    bounce(trajectories, replicas, first, second, soonest.next!, at, scene);
    for (const meeting of meetings) {
      const isTouched = [meeting.first, meeting.second].some((index) => index === first || index === second);
      if (isTouched) look(meeting);
    }
  }
  if (contacts > 0) {
    trajectories.forEach((trajectory, index) => {
      const before = predicted[index];
      if (trajectory === null || !before) return;
      const { pos, vel, acc } = trajectory.at(replicas[index]!.seconds(at));
      predicted[index] = { pos, vel, acc, rot: before.rot };
    });
  }
  return { predicted, contacts };
}

/** When two meet, in seconds before `at`, negated. */
function meets(one: Trajectory, other: Trajectory, at: number): number | null {
  if (one.isStopped && other.isStopped) return null;
  const radius = one.radius + other.radius;
  const ageOne = (at - one.start) * 1e-6;
  const ageOther = (at - other.start) * 1e-6;
  const begin = -(at - Math.max(one.start, other.start)) * 1e-6;
  const edges = [
    ...one.contacts().map((t) => t - ageOne),
    ...other.contacts().map((t) => t - ageOther),
  ].filter((edge) => edge > begin && edge < 0);
  edges.push(0);
  edges.sort((a, b) => a - b);
  let start = begin;
  for (const edge of edges) {
    const inside = 0.5 * (start + edge);
    const acceleration = length(one.accelerationAt(inside + ageOne)) + length(other.accelerationAt(inside + ageOther));
    const time = advance(start, edge, acceleration, 1e-9 * (1 + radius), (t) => {
      const a = one.at(t + ageOne);
      const b = other.at(t + ageOther);
      const d = sub(a.pos, b.pos);
      const v = sub(a.vel, b.vel);
      const distance = length(d);
      return { gap: distance - radius, rate: distance > 0 ? dot(d, v) / distance : -length(v) };
    });
    if (time !== null) return time;
    start = edge;
  }
  return null;
}

/** Two equal masses exchange what they have along the line between them. */
function bounce(
  trajectories: readonly (Trajectory | null)[],
  replicas: readonly Replica[],
  first: number,
  second: number,
  since: number,
  at: number,
  scene: Scene,
): void {
  const [a, b] = [trajectories[first]!, trajectories[second]!];
  const dtOne = since + (at - a.start) * 1e-6;
  const dtOther = since + (at - b.start) * 1e-6;
  const [one, other] = [a.at(dtOne), b.at(dtOther)];
  const normal = normalizeOr(sub(one.pos, other.pos), UP);
  const restitution = 0.5 * (replicas[first]!.settings.restitution + replicas[second]!.settings.restitution);
  const push = scale(normal, 0.5 * (1 + restitution) * dot(sub(one.vel, other.vel), normal));
  const turn = (index: number, trajectory: Trajectory, dt: number, vel: Vec, normal: Vec) => {
    trajectory.deflect(dt, vel, normal);
    trajectory.plan(replicas[index]!.seconds(at), replicas[index]!.settings.restitution, scene);
  };
  turn(first, a, dtOne, sub(one.vel, push), normal);
  turn(second, b, dtOther, add(other.vel, push), scale(normal, -1));
}
