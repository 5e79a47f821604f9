import type { Side } from '../client/auth/acting-side.ts'

export type Host = {
  stateDir: string
  write(text: string): void
  /** Lets the user write in an editor; undefined where nothing was written. */
  edit(initial: string): Promise<string | undefined>
  /** Lets the user sign in, in the suspended terminal; then the client is another. False where it was given up. */
  login(how: { secondFactor: boolean }): Promise<boolean>
  /** Continues as another profile. @throws {CliError} where there is none, or it is not signed in */
  profile(name: string): Promise<void>
  /** Continues as the merchant or as the operator. @throws {CliError} where the credentials are not of both */
  half(half: Side): Promise<void>
  profiles(): readonly string[]
  repaint(): void
  quit(): void
}
