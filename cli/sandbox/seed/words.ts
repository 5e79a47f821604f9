/** Shops of the sandbox's trade, in the order in which they are made. */
export const SHOPS = [
  { name: 'Harbour Coffee', fee_percentage: '0.0100', fee_flat: '0.20' },
  { name: 'Northwind Books', fee_percentage: '0.0075', fee_flat: '0.15' },
  { name: 'Tin Whistle Toys', fee_percentage: '0.0120', fee_flat: '0.10' },
  { name: 'Copper Kettle Tea', fee_percentage: '0.0100', fee_flat: '0.20' },
  { name: 'Fernhill Garden', fee_percentage: '0.0090', fee_flat: '0.20' },
  { name: 'Salt & Thread', fee_percentage: '0.0100', fee_flat: '0.25' },
  { name: 'Marlow Cycles', fee_percentage: '0.0060', fee_flat: '0.30' },
  { name: 'Quiet Hour Candles', fee_percentage: '0.0110', fee_flat: '0.10' },
] as const

/** Merchants that wait for their review. The first one is made last of all: where it is there, the seed was finished. */
export const APPLICANTS = ['Bramble Bakery', 'Lantern Street Records', 'Pell & Daughter Shoes'] as const

export const SUSPENDED = 'Quickcash Vouchers'

export const PAYERS = [
  ['Ada Fenwick', 'ada.fenwick@payer.example'],
  ['Joseph Okoro', 'joseph.okoro@payer.example'],
  ['Mina Sørensen', 'mina.sorensen@payer.example'],
  ['Tom Ashworth', 'tom.ashworth@payer.example'],
  ['Priya Raman', 'priya.raman@payer.example'],
  ['Lucía Ortega', 'lucia.ortega@payer.example'],
  ['Ewan Macrae', 'ewan.macrae@payer.example'],
  ['Hana Kimura', 'hana.kimura@payer.example'],
] as const

export const STATEMENTS = {
  ITEM_NOT_RECEIVED: 'The parcel was to come last week, and it has not arrived.',
  DUPLICATE_PAYMENT: 'I paid this order twice: the first page said that it had failed.',
  INCORRECT_AMOUNT: 'The price in the shop was lower than what I was asked to pay.',
  UNAUTHORISED: 'I did not make this payment, and I do not know the shop.',
  OTHER: 'The wrong colour came, and the shop does not answer.',
} as const

export const EVIDENCE = 'Carrier: delivered and signed for at the door. The receipt and the signature are on file.'
