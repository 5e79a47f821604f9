import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 2 ** 30

function hasRoom(): boolean {
  try {
    const { bsize, bavail } = statfsSync(MEMORY)
    return bsize * bavail >= ROOM_BYTES
  } catch {
    return false
  }
}

/**
 * Where the tests' databases are kept: in memory where there is a file system for that and it has room (that of a
 * container has 64 MB), or else with the system's temporary files. A database is hundreds of files, which are made
 * and removed for each test: on a disk that is half of a server's work.
 */
export const SCRATCH = hasRoom() ? MEMORY : tmpdir()
