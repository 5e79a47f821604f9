import type { Command } from 'commander'
import { packageVersion } from '../../../src/lib/package-root.ts'
import type { CommandResult, Runtime } from '../../kit/context.ts'
import { plainAction } from '../../kit/plain-context.ts'
import type { PlainContext } from '../../kit/plain-context.ts'

export function addVersion(command: Command, runtime: Runtime): void {
  command
    .addHelpText('after', '\nExamples:\n  svc version\n  svc version -q version\n')
    .action(plainAction(runtime, version))
}

function version({ print }: PlainContext): CommandResult {
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
