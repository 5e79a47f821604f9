/** Names of people and payees in a seeded bank. Amounts are in pence. Shops and companies are fictional. */

export const FIRST_NAMES = [
  'Amelia',
  'Oliver',
  'Isla',
  'George',
  'Priya',
  'Harry',
  'Ava',
  'Noah',
  'Mia',
  'Jack',
  'Freya',
  'Mohammed',
  'Lily',
  'Leo',
  'Sophie',
  'Oscar',
  'Grace',
  'Charlie',
  'Aisha',
  'Archie',
  'Evie',
  'Rhys',
  'Niamh',
  'Callum',
  'Zara',
  'Ethan',
  'Chloe',
  'Arjun',
  'Erin',
  'Thomas',
  'Megan',
  'Dylan',
  'Hannah',
  'Samuel',
  'Imogen',
  'Kwame',
  'Eleanor',
  'Finlay',
  'Catrin',
  'Owen',
] as const

export const SURNAMES = [
  'Clarke',
  'Patel',
  'Hughes',
  'Robinson',
  'Campbell',
  'Evans',
  'Khan',
  'Wright',
  'Murphy',
  'Green',
  'Begum',
  'Stewart',
  'Turner',
  'Singh',
  'Morgan',
  'Cooper',
  'Bailey',
  'Adeyemi',
  'Ward',
  'Collins',
  'Reid',
  'Price',
  'Ahmed',
  'Marshall',
  'Griffiths',
  'Fletcher',
  'Okafor',
  'Barnes',
  'Doyle',
  'Hartley',
  'Pritchard',
  'Lawson',
  'Whitfield',
  'Mackenzie',
] as const

export const EMPLOYERS = [
  'Northgate Engineering Ltd',
  'Harbour Street Surgery',
  'Fenwick and Lowe LLP',
  'Calder Valley Council',
  'Brightwater Logistics',
  'St Aldhelm Primary School',
  'Pennine Software Ltd',
  'Rowan Hotels',
  'Meridian Rail Services',
  'Thornbury NHS Trust',
  'Larkspur Design Studio',
  'Kestrel Insurance',
] as const

export const LANDLORDS = [
  'Castle Lane Lettings',
  'Hawthorn Estates',
  'Quayside Homes',
  'Beech and Birch Property',
  'Albion Rentals',
] as const

/** Monthly bills, each on a day that differs by customer. */
export const BILLS = [
  {
    payees: ['Moorland Energy', 'Blue Flame Gas', 'Volt and Co'],
    reference: 'GAS AND ELECTRIC',
    from: 7_200,
    to: 13_900,
  },
  { payees: ['Severnside Water', 'Peak Water', 'Thamesbank Water'], reference: 'WATER', from: 2_400, to: 4_600 },
  {
    payees: ['Calder Valley Council', 'Northmoor Council', 'Eastholm Council'],
    reference: 'COUNCIL TAX',
    from: 9_800,
    to: 16_400,
  },
  { payees: ['Fernhill Broadband', 'Lighthouse Fibre'], reference: 'BROADBAND', from: 2_400, to: 3_800 },
  { payees: ['Kite Mobile', 'Hello Mobile', 'Pocket Mobile'], reference: 'SIM PLAN', from: 800, to: 2_200 },
] as const

export const SUBSCRIPTIONS = [
  { payee: 'Tallow Films', reference: 'MEMBERSHIP', amount: 1_099 },
  { payee: 'Chorus Music', reference: 'PREMIUM', amount: 1_199 },
  { payee: 'Pedal Gym', reference: 'GYM', amount: 2_750 },
  { payee: 'The Daily Ledger', reference: 'DIGITAL', amount: 900 },
  { payee: 'Cloudbox Storage', reference: '200 GB', amount: 249 },
  { payee: 'Green Box Veg', reference: 'WEEKLY BOX', amount: 3_400 },
] as const

/** Regular purchases: the percentage of days, the hours and the days of the week. */
export const HABITS = [
  {
    payees: ['Marlow Foods', 'Hedgerow Market', 'Sunday Stores', 'Corner Pantry'],
    reference: 'GROCERIES',
    from: 640,
    to: 6_850,
    percent: 34,
    hours: [9, 20],
    weekdays: [1, 2, 3, 4, 5, 6, 7],
  },
  {
    payees: ['City Buses', 'Metro Link', 'Overland Trains'],
    reference: 'TRAVEL',
    from: 210,
    to: 760,
    percent: 55,
    hours: [7, 9],
    weekdays: [1, 2, 3, 4, 5],
  },
  {
    payees: ['Bean and Gone', 'Third Cup', 'Kettle and Crumb'],
    reference: 'COFFEE',
    from: 280,
    to: 690,
    percent: 40,
    hours: [8, 16],
    weekdays: [1, 2, 3, 4, 5, 6, 7],
  },
  {
    payees: ['The Copper Kettle', 'Saffron House', 'Pizzeria Rosa', 'The Old Anchor'],
    reference: 'MEAL',
    from: 1_450,
    to: 5_800,
    percent: 38,
    hours: [18, 21],
    weekdays: [5, 6],
  },
  {
    payees: ['Rosewood Pharmacy', 'Wells Chemist'],
    reference: 'PHARMACY',
    from: 350,
    to: 2_100,
    percent: 5,
    hours: [10, 18],
    weekdays: [1, 2, 3, 4, 5, 6],
  },
] as const

/** Rare purchases, which are sometimes returned. */
export const SHOPS = [
  'Threadneedle Clothing',
  'Homeward Interiors',
  'Page and Spine Books',
  'Circuit Electricals',
] as const
export const PURCHASE = { percent: 5, from: 1_450, to: 11_900, refundPercent: 20 } as const

export const BETWEEN_FRIENDS = ['Dinner', 'Tickets', 'Birthday', 'Taxi', 'Thank you', 'Groceries', 'Weekend'] as const
