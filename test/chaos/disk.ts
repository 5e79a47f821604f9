import { execFileSync } from 'node:child_process'
import { mkdirSync, statfsSync } from 'node:fs'

/** A folder with a size of its own, which can be made as small as what is in it. */
export type Disk = {
  folder: string
  fill(): void
  free(): void
  /** Takes it away with all that is in it. */
  remove(): void
}

/**
 * Memory is used as it fills. A payment with its webhooks takes some 16 KB: of 1.5 GB, 92,000 payments filled it by
 * themselves.
 */
const SIZE_MB = 8_000
const ATTEMPTS_MAX = 50

/** Undefined where this process may not mount anything: a full disk can't be had there. */
export function makeDisk(folder: string): Disk | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const mount = (...words: string[]): void => void execFileSync('mount', words, { stdio: 'ignore' })
  try {
    mount('-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=0755`, 'svc-chaos', folder)
  } catch {
    return undefined
  }
  return {
    folder,
    fill: () => {
      for (let attempt = 1; ; attempt += 1) {
        const { bsize, blocks, bfree } = statfsSync(folder)
        try {
          return mount('-o', `remount,size=${(blocks - bfree) * bsize}`, folder)
        } catch (error) {
          // More has been written since it was measured.
          if (attempt === ATTEMPTS_MAX) throw error
        }
      }
    },
    free: () => mount('-o', `remount,size=${SIZE_MB}m`, folder),
    remove: () => void execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' }),
  }
}
