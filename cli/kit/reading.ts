import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { ListView } from '../output/output.ts'
import type { Flags, ReplyBody, RowOf } from './action.ts'
import type { Input, PlainCommand } from './command.ts'
import type { Context } from './context.ts'
import { PAGING, listPages } from './paging.ts'
import type { Paging } from './paging.ts'

type Reading<F extends Flags, O extends Operation> = Omit<PlainCommand<F>, 'run'> & {
  operation: O
  /** What is asked; nothing more than the operation where it is left out. */
  request?(input: Input<F>, client: Client): OperationInput<O> | Promise<OperationInput<O>>
  /** The client that asks, where it is another one than that of other commands. */
  client?(context: Context): Client
  view: ListView<RowOf<O>> | ((context: Context, body: ReplyBody<O>) => unknown)
}

/** A command that prints what one operation answers; as a list it has the flags of pages where the operation has pages. */
export function reading<const F extends Flags, O extends Operation>(declaration: Reading<F, O>): PlainCommand<F> {
  const { operation, request, client: clientOf, view, ...declared } = declaration
  const isPaged = typeof view !== 'function' && 'shape' in operation.query && 'cursor' in Object(operation.query.shape)
  return {
    ...declared,
    flags: isPaged ? { ...declared.flags, ...PAGING } : declared.flags,
    async run(context, input) {
      const client = clientOf?.(context) ?? context.client()
      const asked = { ...(await request?.(input, client)) } as OperationInput<O>
      const read = async (page: object): Promise<ReplyBody<O>> =>
        (await call(client, operation, { ...asked, query: { ...Object(asked.query), ...page } })).body
      // That it has pages, and its flags among the input, the types can't follow.
      if (typeof view === 'function') await view(context, await read({}))
      else if (isPaged) await listPages(context, { ...input } as unknown as Paging, read as never, view)
      else context.print.list(Object(await read({})).data, view)
    },
  }
}
