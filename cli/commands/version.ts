import type { Command } from 'commander'
import { z } from 'zod'
import { packageVersion } from '../../src/lib/package-root.ts'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'

export function addVersion(command: Command, runtime: Runtime): void {
  command
    .addHelpText('after', '\nExamples:\n  svc version\n  svc version -q version\n')
    .action(action(runtime, z.object({}), version))
}

async function version({ print }: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const item = {
    version: packageVersion(),
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  }
  print.record({
    item,
    id: item.version,
    lines: [
      ['svc', item.version],
      ['Node.js', item.node],
      ['Platform', item.platform],
    ],
  })
  return undefined
}
