import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

// After the suite: the shared server may end unless another run still uses it.
// The work is done by a process of its own, which env rids of tap's preloads: tap observes this script as
// if it were a test, and would print a table of coverage for all that it loads.
const cluster = join(import.meta.dirname, 'cluster.ts')
const command = ['-u', 'NODE_OPTIONS', process.execPath, cluster, 'leave', String(process.ppid)]
const { status } = spawnSync('env', command, { stdio: 'inherit', timeout: 60_000 })
process.exitCode = status ?? 1
