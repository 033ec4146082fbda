// Colours. People are told apart by hues that colour-blind eyes tell apart too (after Okabe and Ito); each layer of the
// inspector has one colour, the same here, on the map, in the panels and in the lab's plots
// (`lab/src/report/layer.rs`).

export const AVATARS = [0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442, 0x0072b2, 0xd55e00, 0xcc79a7] as const;

/** The hue of an object: always the same for the same one. */
export function hueOf(object: number): number {
  return AVATARS[(Math.imul(object, 0x9e3779b1) >>> 16) % AVATARS.length]!;
}

/** What a group is called: where it is, not how many were there before it. */
export const groupName = (number: number): string => `#${(number % 2 ** 32) + 1}`;

export const LAYERS = {
  aura: 0x2ec4b6,
  pair: 0xffffff,
  relation: 0x3fa968,
  group: 0xa8a32c,
  predicted: 0xffb000,
  confirmed: 0xffffff,
  contact: 0xff4d4d,
  cell: 0x9b6bff,
  border: 0x3fa7ff,
} as const;

/** The colours of the sky from top to bottom; distant objects fade into the fog. */
export interface SkyColours {
  readonly zenith: number;
  readonly middle: number;
  readonly horizon: number;
  readonly fog: number;
}

/** How much of a world's own sky is in each colour: the dusk stays dark enough above for names and layers to be
 * read. */
const TINT: SkyColours = { zenith: 0.25, middle: 0.5, horizon: 0.35, fog: 0.5 };

/** The dusk, tinted by the sky of a world, like `#9fc6e8`; `null` for anything that is no colour. */
export function tinted(sky: string): SkyColours | null {
  if (!/^#[0-9a-f]{6}$/i.test(sky)) return null;
  const own = Number.parseInt(sky.slice(1), 16);
  const mix = (name: keyof SkyColours): number => {
    const channel = (shift: number): number => {
      const [from, to] = [DUSK[name] >> shift & 255, own >> shift & 255];
      return Math.round(from + (to - from) * TINT[name]) << shift;
    };
    return channel(16) | channel(8) | channel(0);
  };
  return { zenith: mix('zenith'), middle: mix('middle'), horizon: mix('horizon'), fog: mix('fog') };
}

export const DUSK = {
  zenith: 0x10204a,
  middle: 0x53649c,
  horizon: 0xf3a46b,
  sun: 0xffd9a0,
  fog: 0xcf9a86,
  ground: 0xa99a94,
  stone: 0xc9b8a8,
  leaf: 0x4f7a52,
  wood: 0xb07b4a,
  water: 0x5fb0c9,
} as const;
