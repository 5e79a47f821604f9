import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readServerState, writeServerState } from '../../src/db/state-directory.ts'

const module = join(import.meta.dirname, '../../src/db/state-directory.ts')
const STATE = { password: 'a'.repeat(48), port: 5_432, dataDirectory: '/nowhere' }

/** Writes another state in a process whose disk takes not one byte more. */
function writeToFullDisk(stateDir: string): string {
  const state = JSON.stringify({ ...STATE, port: 5_433 })
  const program = `(await import(${JSON.stringify(module)})).writeServerState(${JSON.stringify(stateDir)}, ${state})`
  const command = `trap '' XFSZ; ulimit -f 0; exec "$0" --input-type=module -e "$1"`
  const env = { PATH: process.env['PATH'] }
  return spawnSync('sh', ['-c', command, process.execPath, program], { env, encoding: 'utf8' }).stderr
}

t.test('the password of the database survives a write that a full disk ends', async (t) => {
  const stateDir = t.testdir()
  writeServerState(stateDir, STATE)
  t.match(writeToFullDisk(stateDir), /StateDirectoryError: The state directory .* cannot be used/)
  t.same(readServerState(stateDir), STATE)
  writeServerState(stateDir, { ...STATE, port: 5_434 })
  t.same(readServerState(stateDir), { ...STATE, port: 5_434 }, 'the next start gets past what it left')
  t.same(readdirSync(stateDir), ['postgres.json'])
})

t.test('what a killed start of another user left is no obstacle', { skip: process.getuid?.() === 0 }, async (t) => {
  const stateDir = t.testdir({ 'postgres.json.new': '{' })
  chmodSync(join(stateDir, 'postgres.json.new'), 0)
  writeServerState(stateDir, STATE)
  t.same(readServerState(stateDir), STATE)
})
