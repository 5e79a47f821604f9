import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONFIG_VARIABLES, Environment } from '../../src/config/environment.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { block, code, pageHead, table } from './markdown.ts'

export function configurationPage(): string {
  const rows = CONFIG_VARIABLES.map(({ name, unset }) => [code(name), descriptionOf(name), defaultOf(name, unset)])
  return `${pageHead(
    'Configuration',
    `The environment variables of \`svc serve\`, \`svc worker\`, \`svc migrate\` and \`svc init\`. The commands read a
few more for themselves: \`svc help environment\`.`,
  )}
${block('sh', 'npx svc config show --server')}
Each variable has a twin whose name ends in \`_FILE\` and which names a file with the value, for secrets that an
orchestrator mounts. Durations are whole seconds.

${table(['Variable', 'Meaning', 'Default'], rows)}`
}

function defaultOf(name: string, unset: string | undefined): string {
  if (unset !== undefined) return unset === '' ? 'none' : code(unset)
  const schema = new Map(Object.entries(Environment.shape)).get(name)
  return schema?.safeParse(undefined).success === true ? 'depends on others, or none' : '**required**'
}

/** The comment above each variable, which is where the schema is documented. */
const COMMENTS = readComments()

function descriptionOf(name: string): string {
  const text = COMMENTS.get(name)
  if (text === undefined) throw new Error(`${name} has no comment in src/config/environment.ts`)
  return text
}

function readComments(): Map<string, string> {
  const source = readFileSync(join(packageRoot(), 'src', 'config', 'environment.ts'), 'utf8')
  const found = source.matchAll(/\/\*\*(?<text>(?:(?!\*\/)[^])*)\*\/\n {2}(?<name>SVC_\w+):/g)
  return new Map(
    Array.from(found, ({ groups }) => [
      groups?.['name'] ?? '',
      (groups?.['text'] ?? '').replaceAll(/\n\s*\* ?/g, ' ').trim(),
    ]),
  )
}
