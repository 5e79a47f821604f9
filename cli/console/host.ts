import type { Side } from '../client/auth/acting-side.ts'

/** The terminal and the system, as far as the console asks for them. */
export type Host = {
  stateDir: string
  /** Writes to the terminal beside the picture: for the clipboard. */
  write(text: string): void
  /** Lets the user write in an editor; undefined where nothing was written. */
  edit(initial: string): Promise<string | undefined>
  /** Lets the user sign in, in the suspended terminal; then the client is another. False where it was given up. */
  login(): Promise<boolean>
  /** Goes on as another profile. @throws {CliError} where there is none, or nobody is signed in to it */
  profile(name: string): Promise<void>
  /** Goes on as the merchant or as the operator, where the credentials are of both. @throws {CliError} where they are not */
  half(half: Side): Promise<void>
  profiles(): readonly string[]
  repaint(): void
  quit(): void
}
