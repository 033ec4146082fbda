// What is remembered on this machine: nickname, avatar and settings, and nothing else.

export interface Settings {
  nickname: string;
  avatar: number;
  isMuted: boolean;
  isFirstTime: boolean;
}

const KEY = 'kinesphere.settings';

export function readSettings(): Settings {
  const usual: Settings = { nickname: suggestion(), avatar: 0, isMuted: false, isFirstTime: true };
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>;
    return {
      nickname: typeof kept.nickname === 'string' ? kept.nickname : usual.nickname,
      avatar: Number.isInteger(kept.avatar) && kept.avatar! >= 0 && kept.avatar! <= 255 ? kept.avatar! : 0,
      isMuted: kept.isMuted === true,
      isFirstTime: kept.isFirstTime !== false,
    };
  } catch {
    return usual;
  }
}

export function keepSettings(settings: Settings): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // A browser that keeps nothing is fine: one types one's name again.
  }
}

/** A nickname that one might keep. */
function suggestion(): string {
  const first = ['Amber', 'Calm', 'Dusk', 'Early', 'Gentle', 'Late', 'Quiet', 'Swift', 'Tall', 'Warm'];
  const second = ['Ash', 'Brook', 'Finch', 'Heron', 'Larch', 'Otter', 'Pine', 'Swallow', 'Thrush', 'Willow'];
  const pick = (list: string[]) => list[Math.floor(Math.random() * list.length)]!;
  return `${pick(first)} ${pick(second)} ${Math.floor(10 + Math.random() * 90)}`;
}
