import t from 'tap'
import { makePagedJob, runEach } from '../../src/lib/paged-job.ts'

/** A list of numbers that are due until they are done, three to a page. */
function listOf(numbers: readonly number[], isBad: (item: number) => boolean) {
  const due = new Set(numbers)
  const failures: number[] = []
  const run = makePagedJob<number, number>()
  const owner = {}
  const runPage = () =>
    run(owner, {
      list: async (after = -Infinity) => {
        const items = [...due]
          .filter((item) => item > after)
          .toSorted((a, b) => a - b)
          .slice(0, 3)
        return { items, next: items.length === 3 ? items.at(-1) : undefined }
      },
      work: async (item) => {
        if (isBad(item)) throw new Error(`no ${item}`)
        due.delete(item)
      },
      onFailure: (_error, item) => failures.push(item),
    })
  return { due, failures, runPage }
}

t.test('a page of failures does not keep what is behind it waiting, and the job fails at the end', async (t) => {
  const bad = new Set([1, 2, 3])
  const { due, failures, runPage } = listOf([1, 2, 3, 4, 5, 6, 7], (item) => bad.has(item))
  t.same(await runPage(), { more: true, next: 3, hasFailures: true })
  t.same(await runPage(), { more: true, next: 6, hasFailures: true })
  await t.rejects(runPage(), { message: /^3 of a job's items failed/ })
  t.same([...due], [1, 2, 3])
  bad.clear()
  t.same(await runPage(), { more: true, next: 3, hasFailures: false }, 'it begins again')
  t.same(await runPage(), { more: false, next: undefined, hasFailures: false })
  t.same(failures, [1, 2, 3])
  t.equal(due.size, 0)
})

t.test('each owner has its own position', async (t) => {
  const run = makePagedJob<number, number>()
  const round = {
    list: async (after = 0) => ({ items: [after + 1], next: after === 0 ? 1 : undefined }),
    work: async () => {},
    onFailure: () => {},
  }
  const [one, other] = [{}, {}]
  t.match(await run(one, round), { more: true })
  t.match(await run(other, round), { more: true })
  t.match(await run(one, round), { more: false })
})

t.test('no more items are worked on at once than the concurrency allows', async (t) => {
  let [open, most] = [0, 0]
  const work = async (): Promise<void> => {
    open += 1
    most = Math.max(most, open)
    await new Promise((resolve) => setImmediate(resolve))
    open -= 1
  }
  t.equal(await runEach([1, 2, 3, 4, 5], { work, onFailure: () => {}, concurrency: 2 }), 0)
  t.equal(most, 2)
})
