import { DomainError, invalidField } from '../lib/errors.ts'
import type { BankConnector } from './connector.ts'

/** A bank that a payer can choose. */
export type CatalogueBank = {
  id: string
  name: string
  /** Whether it is shown in the grid above the list. */
  popular: boolean
  /** The id of the connector that carries out its payments. */
  connector: string
  /** The first digits of its sort codes, where they are known (bank-of-account.ts). */
  sortCodes?: readonly string[] | undefined
  /** Its own logo as SVG; otherwise the service draws its initials. */
  logo?: string | undefined
}

/** A fictional bank of the sandbox, which the mock bank answers for. */
export type MockCatalogueBank = CatalogueBank & {
  /** The scenario of its payments, unless a payment names its own (banks/scenarios.ts). */
  scenario: string
}

const MOCK_CONNECTOR = 'mock'

const FICTIONAL: readonly Omit<MockCatalogueBank, 'connector'>[] = [
  { id: 'mock-albion', name: 'Albion Bank', popular: true, scenario: 'success', sortCodes: ['2000'] },
  { id: 'mock-meridian', name: 'Meridian', popular: true, scenario: 'success', sortCodes: ['3000'] },
  { id: 'mock-severn', name: 'Severn & Wye', popular: true, scenario: 'success', sortCodes: ['4000'] },
  { id: 'mock-lighthouse', name: 'Lighthouse', popular: true, scenario: 'success' },
  { id: 'mock-harbour', name: 'Harbour Building Society', popular: true, scenario: 'success' },
  { id: 'mock-fern', name: 'Fern', popular: true, scenario: 'success' },
  { id: 'mock-northgate', name: 'Northgate Bank', popular: false, scenario: 'success' },
  { id: 'mock-thistle', name: 'Thistle Savings', popular: false, scenario: 'success' },
  { id: 'mock-ddraig', name: 'Banc y Ddraig', popular: false, scenario: 'success' },
  {
    id: 'mock-slow',
    name: 'Leisurely Bank (settles after 10 seconds)',
    popular: false,
    scenario: 'success-slow-settle:10s',
  },
  { id: 'mock-doubtful', name: 'Doubtful Bank (does not recognise you)', popular: false, scenario: 'sca-fails' },
  { id: 'mock-empty', name: 'Empty Purse Bank (too little money)', popular: false, scenario: 'insufficient-funds' },
  { id: 'mock-modest', name: 'Modest Bank (above the limit)', popular: false, scenario: 'limit-exceeded' },
  { id: 'mock-watchful', name: 'Watchful Bank (suspects fraud)', popular: false, scenario: 'fraud-stop' },
  { id: 'mock-sleepy', name: 'Sleepy Bank (not available)', popular: false, scenario: 'bank-down' },
  { id: 'mock-tortoise', name: 'Tortoise Bank (does not answer)', popular: false, scenario: 'bank-timeout' },
]

/** The sixteen banks of the sandbox (decisions 45 and 61). The names of those that always fail say how. */
export const MOCK_BANKS: readonly MockCatalogueBank[] = FICTIONAL.map((bank) => ({
  ...bank,
  connector: MOCK_CONNECTOR,
}))

const MOCK_BY_ID = new Map(MOCK_BANKS.map((bank) => [bank.id, bank]))

export function mockBankById(id: string | null | undefined): MockCatalogueBank | undefined {
  return id === null || id === undefined ? undefined : MOCK_BY_ID.get(id)
}

export function isMock({ connector }: CatalogueBank): boolean {
  return connector === MOCK_CONNECTOR
}

/** The path of a bank's image: its logo, or initials on a colour. */
export function logoPath({ id }: CatalogueBank): string {
  return `/widget/banks/${encodeURIComponent(id)}.svg`
}

/** The banks that can be paid with here. */
export type BankCatalogue = {
  readonly list: readonly CatalogueBank[]
  byId(id: string | null | undefined): CatalogueBank | undefined
  /**
   * The connector of a new payment. Without a bank's id it is the mock bank's, or that of the only bank. The sandbox takes
   * unknown ids as the mock bank's.
   * @throws {DomainError} BANK_NOT_CONFIGURED where there is no bank, or the platform is not registered with it;
   *   VALIDATION_FAILED for an id that is not listed, or where one of several must be named
   */
  connectorFor(debtorBankId: string | undefined): BankConnector
  /** Reads again what the platform is to banks, after a change of it. */
  refresh(): Promise<void>
  /** Whether payers are offered a bank: false while its answers fail. */
  isAvailable(id: string): boolean
  /** When the bank stopped responding, as ISO 8601; null while it responds, and where it is not registered. */
  unavailableSince(id: string): string | null
}

/** A bank besides the mock bank's, with its connector. */
export type ConfiguredBank = {
  connector: BankConnector
  name: string
  popular?: boolean
  sortCodes?: readonly string[]
  logo?: string | undefined
  /** Reads again what the platform is to it. */
  refresh?: () => Promise<void>
  /** Whether it can be paid with here; always, where nothing can be missing. */
  isConfigured?: () => boolean
  /** Whether it knows the platform as a client; always, where there is no registration. */
  isRegistered?: () => boolean
  /** Whether it answers at the moment; always, where nothing watches it (banks/circuit.ts). */
  isAvailable?: () => boolean
  /** While it does not answer: since when, in milliseconds since 1970. */
  unavailableSince?: () => number | undefined
}

/**
 * Makes the catalogue of one app.
 * @param mock the mock bank, or what stands for it; undefined in live mode
 */
export function makeCatalogue(mock: BankConnector | undefined, configured: readonly ConfiguredBank[]): BankCatalogue {
  const usable = () => configured.filter(({ isConfigured = () => true }) => isConfigured())
  const list = (): readonly CatalogueBank[] => [
    ...usable().map(({ connector: { id }, name, popular = true, sortCodes, logo }) => ({
      id,
      name,
      popular,
      connector: id,
      sortCodes,
      logo,
    })),
    ...(mock === undefined ? [] : MOCK_BANKS),
  ]
  const byId = (id: string | null | undefined) =>
    id === null || id === undefined ? undefined : list().find((bank) => bank.id === id)
  const watched = new Map(configured.map((bank) => [bank.connector.id, bank]))
  return {
    get list() {
      return list()
    },
    byId,
    refresh: async () => {
      // They share what is read.
      await configured[0]?.refresh?.()
    },
    isAvailable: (id) => watched.get(id)?.isAvailable?.() ?? true,
    unavailableSince: (id) => {
      const since = watched.get(id)?.unavailableSince?.()
      return since === undefined ? null : new Date(since).toISOString()
    },
    connectorFor: (debtorBankId) => {
      const banks = usable()
      const named = banks.find(({ connector }) => connector.id === debtorBankId)
      if (named !== undefined) return registered(named)
      if (mock !== undefined) return mock
      const [only] = banks
      if (only === undefined) {
        throw bankNotConfigured(
          'no bank is configured, so no payment can be taken',
          'configures one: SVC_BANK_PROFILES',
        )
      }
      if (debtorBankId !== undefined) throw unknownBank()
      if (banks.length === 1) return registered(only)
      throw invalidField(
        'debtor_bank_id',
        'REQUIRED',
        'is required, as there are several banks; GET /api/v1/banks lists them',
      )
    },
  }
}

/** @throws {DomainError} BANK_NOT_CONFIGURED while the bank does not know the platform: nothing may be asked of it */
function registered({ connector, isRegistered = () => true }: ConfiguredBank): BankConnector {
  if (isRegistered()) return connector
  const { id } = connector
  throw bankNotConfigured(`the platform is not registered with the bank ${id}`, `registers it: svc banks connect ${id}`)
}

function bankNotConfigured(message: string, next: string): DomainError {
  return new DomainError('BANK_NOT_CONFIGURED', message, { next: `the operator ${next}` })
}

export function unknownBank(): DomainError {
  return invalidField('debtor_bank_id', 'UNKNOWN_BANK', 'is not one of the banks; GET /api/v1/banks lists them')
}
