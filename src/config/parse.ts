import { readFileSync } from 'node:fs'
import type { z } from 'zod'

/** The environment is not what the service needs; the message names every variable that is wrong. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

/**
 * What a schema over the environment makes of it.
 * @throws {ConfigError}
 */
export function parseEnvironment<T extends z.ZodObject>(schema: T, env: NodeJS.ProcessEnv): z.output<T> {
  const filled = withFiles(env, Object.keys(schema.shape))
  const parsed = schema.safeParse(filled)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => problemOf(issue, filled))
  throw new ConfigError(`the configuration is not complete:\n${[...new Set(problems)].join('\n')}`)
}

function problemOf(issue: z.core.$ZodIssue, env: NodeJS.ProcessEnv): string {
  const name = String(issue.path[0])
  const what = env[name] === undefined ? 'is missing' : issue.message
  return `  ${name}: ${what}${name === 'SVC_ENCRYPTION_KEY' ? '; to make one: openssl rand -base64 32' : ''}`
}

/** Fills in variables whose value stands in a file named by their `_FILE` twin. */
function withFiles(env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  // A variable that is set to nothing, as compose files do, is not set.
  const filled = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  for (const name of names) {
    const file = filled[`${name}_FILE`]
    if (file === undefined || filled[name] !== undefined) continue
    try {
      filled[name] = readFileSync(file, 'utf8').trim()
    } catch (cause) {
      // Neither the path nor the system's message, which repeats it: it may be the secret itself, put in the wrong place.
      const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
      throw new ConfigError(`${name}_FILE: can't read the file that it names${code}`)
    }
  }
  return filled
}
