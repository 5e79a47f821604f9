/** A bank of the catalogue. They are fictional: the mock bank answers for all of them. */
export type CatalogueBank = {
  id: string
  name: string
  /** Whether it is shown in the grid above the list. */
  popular: boolean
  /** The scenario of its payments, unless a payment names its own (banks/scenarios.ts). */
  scenario: string
}

/** The sixteen banks that a payer can choose (decisions 45 and 61). The names of those that always fail say how. */
export const BANKS: readonly CatalogueBank[] = [
  { id: 'mock-albion', name: 'Albion Bank', popular: true, scenario: 'success' },
  { id: 'mock-meridian', name: 'Meridian', popular: true, scenario: 'success' },
  { id: 'mock-severn', name: 'Severn & Wye', popular: true, scenario: 'success' },
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

const BY_ID = new Map(BANKS.map((bank) => [bank.id, bank]))

export function bankById(id: string | null | undefined): CatalogueBank | undefined {
  return id === null || id === undefined ? undefined : BY_ID.get(id)
}

/** The path of a bank's image, which the widget's build draws. */
export function logoPath({ id }: CatalogueBank): string {
  return `/widget/banks/${id}.svg`
}
