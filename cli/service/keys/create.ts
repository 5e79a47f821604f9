import { generateMasterKey, kidOfKey } from '../../../src/lib/seal.ts'
import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'

export async function create(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const key = generateMasterKey()
  const kid = kidOfKey(key)
  context.print.record({
    item: { kid, key },
    id: key,
    lines: [
      ['Kid', kid],
      ['Key', key],
    ],
  })
  context.note('It is kept nowhere: whoever has it and the database can read every secret.')
  return undefined
}
