import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeStateFile } from '../../src/model-bank/state-file.ts'
import type { SavedState } from '../../src/model-bank/state-file.ts'
import { until } from '../support/until.ts'

t.test('a save that fails is reported to its response, and the next one succeeds', async (t) => {
  const root = t.testdir({ bank: {} })
  const [folder, away] = [join(root, 'bank'), join(root, 'away')]
  let reads = 0
  // Only written here, never read.
  const state = { issuer: 'https://bank.example' } as SavedState
  const file = makeStateFile(folder, () => {
    reads += 1
    return state
  })
  renameSync(folder, away)
  await t.rejects(file.saved(), { code: 'ENOENT' })
  // Nobody waits for this one: it must not end the process either.
  file.touch()
  await until('the save of nobody is tried', () => reads === 2)
  renameSync(away, folder)
  await file.saved()
  t.ok(existsSync(join(folder, 'bank-state.bin')))
  await file.close()
})
