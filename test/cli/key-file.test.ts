import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { ensureKeyRing, keyFile, readKeyRing, rotateKeyRing, variablesOf } from '../../cli/service/up/key-file.ts'
import { lockFileOf } from '../../src/db/state-directory.ts'
import { kidOfKey } from '../../src/lib/seal.ts'
import { nodeCommand } from './service.ts'

t.test('a new directory gets one key, and keeps it', async (t) => {
  const stateDir = t.testdir()
  t.equal(readKeyRing(stateDir), undefined)
  const ring = await ensureKeyRing(stateDir)
  t.equal(ring.length, 1)
  t.same(await ensureKeyRing(stateDir), ring)
  t.same(variablesOf(ring), { SVC_ENCRYPTION_KEY: ring[0] })
  t.equal(statSync(keyFile(stateDir)).mode & 0o777, 0o600)
})

t.test('a rotation puts a new key in front and keeps the others', async (t) => {
  const stateDir = t.testdir()
  const [first] = await ensureKeyRing(stateDir)
  const [second, ...rest] = await rotateKeyRing(stateDir)
  t.same(rest, [first])
  const third = await rotateKeyRing(stateDir)
  t.same(third.slice(1), [second, first])
  t.equal(statSync(keyFile(stateDir)).mode & 0o777, 0o600)
  t.same(variablesOf(third), { SVC_ENCRYPTION_KEY: third[0], SVC_ENCRYPTION_KEY_PREVIOUS: `${second},${first}` })
})

t.test('a directory of an older version has its one key in the same file', async (t) => {
  const key = Buffer.alloc(32, 1).toString('base64')
  const stateDir = t.testdir({ 'master.key': `${key}\n` })
  t.same(await ensureKeyRing(stateDir), [key])
  t.same((await rotateKeyRing(stateDir)).slice(1), [key])
})

t.test('there are five previous keys at most, and none without a first', async (t) => {
  const stateDir = t.testdir()
  await t.rejects(rotateKeyRing(stateDir), { code: 'NO_KEY' })
  await ensureKeyRing(stateDir)
  for (let count = 0; count < 5; count += 1) await rotateKeyRing(stateDir)
  const full = readKeyRing(stateDir)
  await t.rejects(rotateKeyRing(stateDir), { code: 'TOO_MANY_KEYS' })
  t.same(readKeyRing(stateDir), full)
})

t.test('while one change goes on another is refused and changes nothing', async (t) => {
  const stateDir = t.testdir()
  const ring = await ensureKeyRing(stateDir)
  const unlock = lockFileOf(stateDir, 'keys.lock')
  await t.rejects(rotateKeyRing(stateDir), { code: 'STATE_DIRECTORY' })
  unlock()
  t.same(readKeyRing(stateDir), ring)
  t.equal((await rotateKeyRing(stateDir)).length, 2)
})

t.test('what a crash left beside the file is no key, and goes with the next change', async (t) => {
  const stateDir = t.testdir()
  const ring = await ensureKeyRing(stateDir)
  for (const text of ['', 'half of a ke']) writeFileSync(join(stateDir, `.master.key.crash${text.length}`), text)
  t.same(readKeyRing(stateDir), ring)
  const rotated = await rotateKeyRing(stateDir)
  t.same(rotated.slice(1), ring)
  t.same(
    readdirSync(stateDir).filter((name) => name.startsWith('.master')),
    [],
  )
})

t.test('killed at any moment of a rotation, the file has every key that it ever had', async (t) => {
  const stateDir = t.testdir()
  await ensureKeyRing(stateDir)
  const script = join(import.meta.dirname, '..', 'support', 'key-rotator.ts')
  let rotations = 0
  for (let time = 0; time < 12; time += 1) {
    const before = readKeyRing(stateDir) ?? ['none']
    // Room for new ones: all but the current go.
    const [kept] = before
    writeFileSync(keyFile(stateDir), `${kept}\n`, { mode: 0o600 })
    const child = spawn(...nodeCommand([script, stateDir]), { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    await delay(time * 9)
    child.kill('SIGKILL')
    await ended
    const after = readKeyRing(stateDir) ?? []
    t.equal(after.at(-1), kept, 'the key that things are sealed under is there')
    t.equal(new Set(after.map((key) => kidOfKey(key))).size, after.length)
    t.equal(statSync(keyFile(stateDir)).mode & 0o777, 0o600)
    t.match(readFileSync(keyFile(stateDir), 'utf8'), /^([\w+/]{43}=\n)+$/)
    rotations += after.length - 1
  }
  t.ok(rotations > 0, `${rotations} rotations were made before the kills`)
})
