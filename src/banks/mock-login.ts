import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { DomainError } from '../lib/errors.ts'
import { constantTimeEqual, hmacHex } from '../lib/hmac.ts'
import { WRONG_CODES_MAX, countCode } from './mock-login-sql.ts'
import { parseScenario } from './scenarios.ts'

/** How long a login lasts, in milliseconds. */
const LOGIN_MS = 15 * 60_000

/** The steps that a payer has completed: the password, and then the one-time code. */
export type LoginStep = 'password' | 'code'

const Login = z.strictObject({
  step: z.enum(['password', 'code']),
  /** The payment of the login: it is valid for no other one. */
  state: z.string(),
  scenario: z.string(),
  /** Milliseconds since 1970. */
  until: z.int(),
})
export type Login = z.infer<typeof Login>

export type MockLoginOptions = {
  /** For the mock bank's logins alone. */
  key: string
  pool: CommonQueryMethods
  /** The accepted credentials (decision 44). */
  credentials: Readonly<{ username: string; password: string; code: string }>
}

/** The outcome of a one-time code: a complete login, or the number of attempts left. */
export type CodeOutcome = { login: string } | { triesLeft: number }

/**
 * The mock bank's login. The login state travels between its pages in signed form fields, not in a process's memory.
 */
export type MockLogin = {
  /**
   * Checks user name and password. The user name may be the name of a scenario, which the payment then follows
   * (contract §Sandbox scenarios).
   * @returns the login for the next page; undefined for wrong credentials
   */
  signIn(entry: { state: string; scenario: string; username: string; password: string }): string | undefined
  /** Checks a one-time code; after the fifth wrong one no further code is checked. */
  enterCode(login: Login, code: string): Promise<CodeOutcome>
  /**
   * Verifies a login; undefined when this bank did not sign it, or when it belongs to another payment or step, or has
   * expired.
   */
  read(text: string, expected: { step: LoginStep; state: string }): Login | undefined
}

export function makeMockLogin({ key, pool, credentials }: MockLoginOptions): MockLogin {
  return {
    signIn: ({ state, scenario, username, password }) => {
      const isPassword = constantTimeEqual(password, credentials.password)
      const isPayer = constantTimeEqual(username, credentials.username)
      if (!isPassword || !(isPayer || isScenario(username))) return undefined
      return write(key, { step: 'password', state, scenario: isPayer ? scenario : username, until: end() })
    },
    enterCode: async (login, code) => {
      const isRight = constantTimeEqual(code, credentials.code)
      const firstIsWrong = login.scenario === 'otp-wrong-then-ok'
      const tries = await countCode(pool, { state: login.state, isRight, firstIsWrong })
      if (tries === null) return { triesLeft: 0 }
      if (tries.was_wrong) return { triesLeft: WRONG_CODES_MAX - tries.wrong_codes }
      return { login: write(key, { ...login, step: 'code' }) }
    },
    read: (text, { step, state }) => {
      const login = read(key, text)
      return login?.step === step && login.state === state && login.until > Date.now() ? login : undefined
    },
  }
}

function end(): number {
  return Date.now() + LOGIN_MS
}

function isScenario(name: string): boolean {
  try {
    parseScenario(name)
    return true
  } catch (error) {
    if (error instanceof DomainError) return false
    throw error
  }
}

function write(key: string, login: Login): string {
  const payload = Buffer.from(JSON.stringify(login)).toString('base64url')
  return `${payload}.${mac(key, payload)}`
}

function read(key: string, text: string): Login | undefined {
  const [payload = '', signature = '', ...rest] = text.split('.')
  if (rest.length > 0 || !constantTimeEqual(signature, mac(key, payload))) return undefined
  return Login.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')))
}

function mac(key: string, payload: string): string {
  return hmacHex(key, Buffer.from(`mock bank login\n${payload}`))
}
