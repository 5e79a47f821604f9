import { quoted } from '../../base/command-hints.ts'
import { usageError } from '../../base/errors.ts'
import { yaml } from '../../base/yaml.ts'

/** Names under which people keep what must not be known: no configuration file may have one. */
const SECRET = /secret|token|passw|pwd|credential|private_?key|api_?key|encryption_?key|auth_?key/i

/**
 * A configuration file as data.
 * @throws {CliError} exit code 2 where it is no YAML, or holds a key that names a secret; no value of it is told
 */
export function parsedConfig(file: string, text: string): unknown {
  const data = parsed(file, text)
  refuseSecrets(file, data)
  return data
}

function parsed(file: string, text: string): unknown {
  try {
    return yaml().parse(text)
  } catch (cause) {
    // The parser's own message quotes the line, which may hold anything.
    const line = cause instanceof Error && 'linePos' in cause ? firstLine(cause.linePos) : ''
    throw usageError(
      `${file}: this is no YAML${line}`,
      `to have it as it was never there: mv ${quoted(file)} ${quoted(`${file}.old`)}`,
    )
  }
}

function firstLine(positions: unknown): string {
  const first: unknown = Array.isArray(positions) ? positions[0] : undefined
  return typeof first === 'object' && first !== null && 'line' in first && Number.isInteger(first.line)
    ? ` in line ${String(first.line)}`
    : ''
}

/** Profiles have the names that users give them; what is in one is looked at like the rest. */
function refuseSecrets(file: string, data: unknown): void {
  for (const [key, value] of Object.entries(Object(data))) {
    if (SECRET.test(key)) throw refused(file, key)
    if (key !== 'profiles') continue
    for (const [name, profile] of Object.entries(Object(value))) {
      const secret = Object.keys(Object(profile)).find((each) => SECRET.test(each))
      if (secret !== undefined) throw refused(file, `profiles.${name}.${secret}`)
    }
  }
}

function refused(file: string, key: string): Error {
  return usageError(
    `${file}: ${key}: a configuration file holds no secrets`,
    'the environment, such as SVC_TOKEN or SVC_CLIENT_SECRET; --env <file>; or svc login, which keeps its own',
  )
}
