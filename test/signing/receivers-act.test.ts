import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { freePort } from '../support/free-port.ts'
import { RECEIVER_LANGUAGES, readReceiver } from '../../src/lib/receivers.ts'
import type { ReceiverLanguage } from '../../src/lib/receivers.ts'
import { signBody } from '../../src/lib/webhook-signature.ts'
import { eventOf, missingRuntime, send, startCopied } from '../support/copied-receiver.ts'
import { until } from '../support/until.ts'

const SECRET = 'a'.repeat(64)

/**
 * What is put at the beginning of `act`, where who copies a receiver puts what they do: it waits where there is a file
 * `waits`, until `waiting` is gone, and fails where there is a file `fails`.
 */
const TROUBLES: Readonly<Record<ReceiverLanguage, readonly [begin: string, trouble: string]>> = {
  node: [
    'function act(event) {',
    `async function act(event) {
       const { existsSync, renameSync } = await import('node:fs')
       if (existsSync('waits')) renameSync('waits', 'waiting')
       while (existsSync('waiting')) await new Promise((resolve) => setTimeout(resolve, 10))
       if (existsSync('fails')) throw new Error('no database')`,
  ],
  python: [
    'def act(event):',
    `def act(event):
    if os.path.exists("waits"):
        os.rename("waits", "waiting")
    while os.path.exists("waiting"):
        threading.Event().wait(0.01)
    if os.path.exists("fails"):
        raise RuntimeError("no database")`,
  ],
  php: [
    'function act(array $event): void\n{',
    `function act(array $event): void
     {
       if (file_exists('dies')) posix_kill(getmypid(), 9);
       if (file_exists('waits')) rename('waits', 'waiting');
       for (; file_exists('waiting'); clearstatcache()) usleep(10000);
       if (file_exists('fails')) throw new RuntimeException('no database');`,
  ],
  go: [
    'func act(e event) error {',
    `func act(e event) error {
       is := func(name string) bool { _, err := os.Stat(name); return err == nil }
       if is("waits") { os.Rename("waits", "waiting") }
       for is("waiting") { time.Sleep(10 * time.Millisecond) }
       if is("panics") { panic("a mistake") }
       if is("fails") { return fmt.Errorf("no database") }`,
  ],
  shell: [
    'act() {',
    `act() {
       [[ ! -e dies ]] || kill -9 $$
       [[ ! -e waits ]] || mv waits waiting
       while [[ -e waiting ]]; do sleep 0.02; done
       [[ ! -e fails ]] || return 1`,
  ],
}

/** A receiver whose act gets into trouble, and how to get it there. */
async function troubled(t: Test, language: ReceiverLanguage) {
  const [begin, trouble] = TROUBLES[language]
  const copied = await readReceiver(language)
  t.ok(copied.includes(begin))
  const port = await freePort()
  const { folder, acted } = await startCopied(t, {
    language,
    text: copied.replace(begin, () => trouble),
    port,
    secret: SECRET,
  })
  return {
    give: (id: string) => {
      const body = eventOf(id)
      return send(port, { body, signature: signBody({ secret: SECRET, body: Buffer.from(body) }) })
    },
    count: (id: string) => acted().filter((line) => line.endsWith(` evt_${id}`)).length,
    has: (name: string) => existsSync(join(folder, name)),
    make: (name: string) => writeFileSync(join(folder, name), ''),
    remove: (name: string) => rmSync(join(folder, name)),
  }
}

for (const language of RECEIVER_LANGUAGES) {
  const missing = missingRuntime(language)
  t.test(`the receiver in ${language} loses no event`, missing === undefined ? {} : { skip: missing }, async (t) => {
    const { give, count, has, make, remove } = await troubled(t, language)

    await t.test('a failed event is answered with 500 until it succeeds, and then never repeated', async (t) => {
      make('fails')
      for (const time of ['first', 'second']) t.equal(await give('failed'), 500, time)
      t.equal(count('failed'), 0)
      remove('fails')
      for (const time of ['third', 'fourth']) t.equal(await give('failed'), 200, time)
      await until('it says so', () => count('failed') > 0)
      t.equal(count('failed'), 1)
    })

    await t.test(
      'the same event is answered immediately while it is processed, and repeated if that fails',
      async (t) => {
        make('waits')
        const first = give('slow')
        await until('it acts', () => has('waiting'))
        t.equal(await give('slow'), 200, 'before the first has its answer')
        make('fails')
        remove('waiting')
        t.equal(await first, 500)
        remove('fails')
        t.equal(await give('slow'), 200)
        await until('it says so', () => count('slow') > 0)
        t.equal(count('slow'), 1)
      },
    )

    // The others keep what they know in memory, which dies with them.
    if (language === 'php' || language === 'shell')
      await t.test('a process that is killed while it acts leaves no event marked as done', async (t) => {
        make('dies')
        await t.rejects(give('killed'), 'no answer')
        remove('dies')
        for (const time of ['second', 'third']) t.equal(await give('killed'), 200, time)
        await until('it says so', () => count('killed') > 0)
        t.equal(count('killed'), 1)
      })
    if (language === 'go')
      await t.test('a panic is not an answer, and nothing is lost by it', async (t) => {
        make('panics')
        await t.rejects(give('panicked'))
        remove('panics')
        t.equal(await give('panicked'), 200)
        await until('it says so', () => count('panicked') === 1)
      })
  })
}
