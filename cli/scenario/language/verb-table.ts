import type { z } from 'zod'
import type { ReferenceKind } from './parts.ts'

/** What a name that a step gives stands for, and the members that later steps may ask of it. */
export type Makes = { kind: 'refund' | 'answer' | ReferenceKind; members: readonly string[] }

/** Verbs: what follows each, what it does, and lines that show how it is written, the plainest first. */
export type VerbTable = Readonly<
  Record<
    string,
    { schema: z.ZodType; text: string; examples: readonly [string, ...string[]]; makes?: Makes | undefined }
  >
>

/** What a step names that keeps the service's answer. */
export function made<Kind extends Makes['kind']>(
  kind: Kind,
  { shape }: Pick<z.ZodObject, 'shape'>,
): { kind: Kind; members: readonly string[] } {
  return { kind, members: Object.keys(shape) }
}
