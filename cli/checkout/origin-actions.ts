import { readWebOrigin } from '../../src/lib/web-origin.ts'
import { getCheckoutOrigins, putCheckoutOrigins } from '../../src/wire/settings.ts'
import { CliError } from '../base/errors.ts'
import { ownSubject, action } from '../kit/action.ts'
import type { Flag, Subject } from '../kit/action.ts'
import type { Context } from '../kit/context.ts'

type Origins = { origins: readonly string[] }

/** The pages that may embed the merchant's checkout. The service takes them as a whole. */
const origins: Subject<Origins> = {
  ...ownSubject('origins', 'the origins', getCheckoutOrigins),
  confirmBy: (_now, { origin }) => originsIn(String(origin)).slice(0, 1),
}

const named = {
  value: 'origin',
  summary: 'Scheme, host and port only: https://shop.example',
  label: 'Origin',
  member: 'origins',
  positional: true,
  several: true,
  required: true,
} as const satisfies Flag

/** As the service keeps them; what is no origin goes to the service as it is, which says why. */
function originsIn(text: string): string[] {
  return text.split(' ').map((word) => {
    const read = readWebOrigin(word, { allowLoopbackHttp: true })
    return 'origin' in read ? read.origin : word
  })
}

const add = action({
  command: 'checkout origins add',
  summary: 'Add an allowed origin',
  examples: ['svc checkout origins add https://shop.example https://www.shop.example'],
  subject: origins,
  flags: { origin: named },
  operation: putCheckoutOrigins,
  request: (_id, { origin }, now) => ({
    body: { origins: [...new Set([...(now?.origins ?? []), ...originsIn(origin)])] },
  }),
  effect: (_now, { origin }) => `let pages of ${originsIn(origin).join(', ')} embed the checkout`,
  done: (_now, { origins: all }) => `${all.length} origins may embed the checkout`,
  view: printOrigins,
})

const remove = action({
  command: 'checkout origins remove',
  summary: 'Remove an allowed origin',
  examples: ['svc checkout origins remove https://old.shop.example'],
  subject: origins,
  flags: { origin: { ...named, summary: 'Origin, from svc checkout origins list' } },
  operation: putCheckoutOrigins,
  request(_id, { origin }, now) {
    if (now === undefined) return { body: { origins: [] } }
    const gone = originsIn(origin)
    const unknown = gone.find((each) => !now.origins.includes(each))
    if (unknown !== undefined)
      throw new CliError('NOT_FOUND', `"${unknown}" is not among the origins`, {
        hint: 'svc checkout origins list',
      })
    return { body: { origins: now.origins.filter((each) => !gone.includes(each)) } }
  },
  effect: (_now, { origin }) => `stop the checkout on pages of ${originsIn(origin).join(', ')}`,
  done: (_now, { origins: all }) => `${all.length} origins may embed the checkout`,
  confirm: true,
  view: printOrigins,
})

export function printOrigins({ print }: Context, { origins: all }: Origins): void {
  print.list(
    all.map((origin) => ({ origin })),
    {
      fields: ['origin'],
      columns: [{ title: 'origin', value: (row) => row.origin }],
      empty: 'No origins: any page in the sandbox, no page in live mode.',
    },
  )
}

export const ORIGIN_ACTIONS = [add, remove] as const
