import { readFileSync } from 'node:fs'
import type { z } from 'zod'

/** The environment is invalid; the message names every invalid variable. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

/**
 * Parses the environment by a schema.
 * @throws {ConfigError}
 */
export function parseEnvironment<T extends z.ZodObject>(schema: T, env: NodeJS.ProcessEnv): z.output<T> {
  const filled = withFiles(env, Object.keys(schema.shape))
  const parsed = schema.safeParse(filled)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => problemOf(issue, filled))
  throw new ConfigError(`invalid configuration:\n${[...new Set(problems)].join('\n')}`)
}

function problemOf(issue: z.core.$ZodIssue, env: NodeJS.ProcessEnv): string {
  const name = String(issue.path[0])
  const problem = env[name] === undefined ? 'is missing' : issue.message
  return `  ${name}: ${problem}${name === 'SVC_ENCRYPTION_KEY' ? '; create one with: openssl rand -base64 32' : ''}`
}

/** Fills in variables whose value is in a file, named by their `_FILE` variant. */
function withFiles(env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  // An empty variable, as compose files set it, counts as not set.
  const filled = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  for (const name of names) {
    const file = filled[`${name}_FILE`]
    if (file === undefined || filled[name] !== undefined) continue
    try {
      filled[name] = readFileSync(file, 'utf8').trim()
    } catch (cause) {
      // Without the path, and the system's message, which repeats it: the value may be the secret itself, in the wrong variable.
      const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
      throw new ConfigError(`${name}_FILE: cannot read the file${code}`)
    }
  }
  return filled
}
