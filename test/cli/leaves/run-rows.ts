import type { Test } from 'tap'
import { judge } from './judge.ts'
import { judgeError, makeCheck } from './judge-error.ts'
import type { Ran, Rows, CommandLine } from './row.ts'
import { leavesOf } from './tree.ts'
import type { Leaf } from './tree.ts'
import { makeWorld } from './world.ts'
import type { World } from './world.ts'

/** A port where nothing listens, and nothing may. */
const NOTHING_LISTENS = 'http://127.0.0.1:1'

type Judged = { leaf: Leaf; row: Ran; typed: CommandLine }

/** Judges each command of these rows, all on one service. */
export async function runRows(t: Test, rows: Rows): Promise<void> {
  const world = await makeWorld(t)
  const { leaves } = await leavesOf()
  const judged: Judged[] = []
  for (const leaf of leaves) {
    const row = rows[leaf.path]
    if (row === undefined || 'elsewhere' in row) continue
    const { check, wrong } = makeCheck()
    judged.push({ leaf, row, typed: await judge({ leaf, row, world, check }) })
    t.same(wrong, [], leaf.path)
  }
  await unreachable(t, world, judged)
}

/** All of them at once, for each tries again after a moment. */
async function unreachable(t: Test, world: World, judged: readonly Judged[]): Promise<void> {
  await t.test('where nothing listens, a command says so, and that a repeat may succeed', async (t) => {
    const asked = judged.filter(({ row }) => row.local !== true && row.skip?.closedPort === undefined)
    await Promise.all(
      asked.map(async ({ leaf, row, typed: { words, env = {}, stdin = '' } }) => {
        const line = [...leaf.words, ...words, '--json', '--api-url', NOTHING_LISTENS]
        const refused = await world.run(row.as, line, { env, stdin })
        const { check, wrong } = makeCheck()
        check(refused.code === 8, `exit code ${refused.code}`)
        judgeError(check, refused, 'SERVICE_UNREACHABLE')
        t.same(wrong, [], leaf.path)
      }),
    )
  })
}
