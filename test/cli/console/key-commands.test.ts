import t from 'tap'
import '../../support/tsx.ts'
import { childOf, isNamedBy } from '../../../cli/entry/tree/command-data.ts'
import { readAll } from '../../../cli/entry/tree/command-file.ts'
import { GLOBAL_OPTIONS } from '../../../cli/entry/tree/global-options.ts'
import type { FormValues } from '../../../cli/console/model/modal.ts'
import { whoOf } from './who.ts'

/* Each key says which command does the same: one that svc has, with flags that it takes. */
const { SCREENS } = await import('../../../cli/console/screens.ts')

/** A row with every member that a key may look at, each a text. */
const ROW: object = new Proxy(() => 'x', {
  get: (_row, name): unknown => (name === Symbol.toPrimitive || name === 'toString' ? () => 'x' : ROW),
})

/** An answer to every field. */
const GIVEN = new Proxy<FormValues>({}, { get: () => 'x' })

t.test('every key names a command that there is', async (t) => {
  const tree = await readAll()
  for (const { name, keys } of SCREENS)
    for (const { key, command, for: kind } of keys)
      for (const side of kind === undefined ? (['merchant', 'platform'] as const) : [kind]) {
        const text = command(ROW, GIVEN, whoOf(side === 'merchant' ? 'ADMIN' : 'OWNER', side))
        const [svc, ...words] = text.split(' ')
        t.equal(svc, 'svc', text)
        let found = tree
        while (found.commands.length > 0) {
          const next = childOf(found, words.shift() ?? '')
          t.ok(next, `${name} ${key}: ${text}`)
          if (next === undefined) break
          found = next
        }
        for (const flag of words.filter((word) => word.startsWith('--')))
          t.ok(
            [...found.options, ...GLOBAL_OPTIONS].some((option) => isNamedBy(option, flag)),
            `${name} ${key}: ${text}`,
          )
      }
})
