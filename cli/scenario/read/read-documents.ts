import { isScalar } from 'yaml'
import type { Document } from 'yaml'

/** As large may a file of scenarios be. */
export const BYTES_MAX = 1024 * 1024

/** The documents of a file in which something stands; a separator at a file's end begins one too. */
export function documentsOf<D extends Document>(parsed: readonly D[]): D[] {
  return parsed.filter((document) => !isEmpty(document) || document.errors.length > 0)
}

function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null)
}
