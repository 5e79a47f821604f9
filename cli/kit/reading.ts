import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { ListView } from '../output/output.ts'
import type { Flags, ReplyBody, RowOf } from './action.ts'
import type { Input, PlainCommand } from './command.ts'
import type { Context } from './context.ts'
import { PAGING, listPages, pagesIn } from './paging.ts'
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
      // That it has the flags of pages among its input, the types can't follow.
      const paging = { ...input } as unknown as Paging
      if (isPaged) return listPages(context, paging, pagesIn(client, operation, asked), view)
      const { body } = await call(client, operation, asked)
      if (typeof view === 'function') await view(context, body)
      else context.print.list(Object(body).data, view)
    },
  }
}
