import { AsyncLocalStorage } from 'node:async_hooks'

/*
 * Whose rows the statements of the pool may see, whatever the statements say (decision 360). It follows the work through its
 * promises, so that no statement can forget it.
 */
const scopes = new AsyncLocalStorage<string | undefined>()

const NO_MERCHANT = ''

/** Runs work that sees the rows of one merchant. */
export function ofMerchant<T>(merchantId: string, work: () => T): T {
  return scopes.run(merchantId, work)
}

/** Runs work that sees the rows of no merchant: a request whose caller is not known yet, or is the bank's customer. */
export function ofNoMerchant<T>(work: () => T): T {
  return scopes.run(NO_MERCHANT, work)
}

/** Runs work that sees the rows of all merchants, as jobs do: its caller is an operator, or proves itself by what is read. */
export function ofEveryMerchant<T>(work: () => T): T {
  return scopes.run(undefined, work)
}

/** The merchant whose rows may be seen, '' for none; undefined for all. */
export function scopedMerchant(): string | undefined {
  return scopes.getStore()
}
