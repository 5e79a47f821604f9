import t from 'tap'
import { loadScenarios, readVars } from '../../cli/scenario/read/load.ts'
import { mistakeText } from '../../cli/scenario/read/source.ts'
import { jsonSchema } from '../../cli/scenario/read/file-schema.ts'
import { STRUCTURES } from '../../cli/scenario/language/structure.ts'
import { PAY, casesOf, mistakesOf, scenarioOf } from './read.ts'

const AMOUNT = 'pay: { amount: $amount, currency: GBP }'

/** The labels and titles of a file's only case. */
function toldOf(text: string): string[] {
  return (casesOf(text)[0]?.steps ?? []).map(({ label, title }) => `${label} ${title}`)
}

function inputsOf(text: string): unknown[] {
  return (casesOf(text)[0]?.steps ?? []).map(({ input }) => input)
}

t.test('each row of a matrix is a case of its own', async (t) => {
  const rows = casesOf(
    scenarioOf([AMOUNT], 'matrix:\n  - { amount: "1.00", currency: EUR }\n  - { amount: "2.00", currency: GBP }\n'),
  )
  t.match(rows, [
    { name: 'a case (amount=1.00, currency=EUR)', number: 1, steps: [{ input: { amount: '1.00' } }] },
    { name: 'a case (amount=2.00, currency=GBP)', number: 2, steps: [{ input: { amount: '2.00' } }] },
  ])
  const columns = `${scenarioOf([AMOUNT], 'vars: { small: "1.00" }\nmatrix: { amount: [$small, "2.00"], on: [true, false] }\n')}---\n${scenarioOf([PAY])}`
  t.same(
    casesOf(columns).map(({ name, number, key }) => [number, name, key]),
    [
      [1, 'a case (amount=1.00, on=true)', 'x.yaml#1[amount=1.00, on=true]'],
      [2, 'a case (amount=1.00, on=false)', 'x.yaml#1[amount=1.00, on=false]'],
      [3, 'a case (amount=2.00, on=true)', 'x.yaml#1[amount=2.00, on=true]'],
      [4, 'a case (amount=2.00, on=false)', 'x.yaml#1[amount=2.00, on=false]'],
      [5, 'a case', 'x.yaml#2'],
    ],
    'all combinations; cases are counted, and keys stay when another document grows',
  )
  t.equal(casesOf(columns, { amount: '9.00' }).length, 3, 'the command line wins, and equal rows are one')
  const long = 'x'.repeat(40)
  const alike = casesOf(
    scenarioOf(['pay: { amount: "1.00", currency: GBP }'], `matrix: { a: [5, "5", 5], b: [${long}A, ${long}B] }\n`),
  )
  const vars = `b=${long}…`
  t.same(
    alike.map(({ name, key }) => [name, key]),
    ['', ' #2', ' #3', ' #4'].map((number) => [`a case (a=5, ${vars}${number})`, `x.yaml#1[a=5, ${vars}${number}]`]),
    'rows that only look the same are numbered, and none is left out',
  )
})

t.test('a matrix that can be none is refused at its place', async (t) => {
  const told = (matrix: string, step = PAY): string[] => mistakesOf(scenarioOf([step], `matrix: ${matrix}\n`))
  t.same(told('{}'), ['3:1 a row of the matrix has no variable'])
  t.same(told('[]'), ['3:9 matrix must have at least 1 entry'])
  t.same(told('{ a: [] }'), ['3:14 a must have at least 1 entry'])
  t.match(told('{ a: 5 }'), [/^3:\d+ a must be a list/])
  t.same(told(`{ a: [${[...Array(15).keys()].join()}], b: [${[...Array(14).keys()].join()}] }`), [
    '3:1 the matrix has 210 rows; there may be 200',
  ])
  t.same(told('[{ merchant: x }, { merchant: y }]'), [])
  t.same(
    told('[{ amount: "1.00" }, { amount: 2 }]', AMOUNT),
    ['5:20 amount must be text: quote it'],
    'what is wrong with some rows is told once',
  )
  t.same(told('[{ amount: "1.00" }, { amout: "2.00" }]', AMOUNT), [
    '5:20 unknown reference $amount: did you mean $amout?',
  ])
  t.same(told('[{ amount: "1.00" }, { amount: "2.00" }]', 'pays: {}').length, 1, 'and what all have, once')
})

t.test("the name of the case's merchant is taken", async (t) => {
  t.same(mistakesOf(scenarioOf([PAY], 'vars: { run: x, merchant: y }\n')), [
    '3:17 the name "merchant" is taken already: $merchant is always there',
  ])
})

t.test('tags are words', async (t) => {
  t.same(casesOf(scenarioOf([PAY], 'tags: [smoke, refund-2]\n'))[0]?.tags, ['smoke', 'refund-2'])
  t.same(casesOf(scenarioOf([PAY]))[0]?.tags, [])
  t.match(mistakesOf(scenarioOf([PAY], 'tags: [two words]\n')), [/^3:8 tags must be words of letters/])
  t.match(mistakesOf(scenarioOf([PAY], 'tags: smoke\n')), [/^3:7 tags must be a list/])
})

t.test('a loop is spread out, and names may be given again in it', async (t) => {
  const loop = [
    'for_each:\n      in: ["1.00", "2.00"]\n      as: amount\n      steps:\n        - pay: { as: p, amount: $amount, currency: GBP }\n        - bank: { approve: $p }',
    'await: { payment: $p, status: Settled }',
  ]
  t.same(toldOf(scenarioOf([PAY, ...loop])), [
    `1 ${PAY}`,
    '2.1.1 pay: { as: p, amount: $amount, currency: GBP } (amount=1.00)',
    '2.1.2 bank: { approve: $p } (amount=1.00)',
    '2.2.1 pay: { as: p, amount: $amount, currency: GBP } (amount=2.00)',
    '2.2.2 bank: { approve: $p } (amount=2.00)',
    '3 await: { payment: $p, status: Settled }',
  ])
  const named =
    'for_each: { in: $shops, as: shop, steps: [ pay: { as: "p_${shop.n}", amount: $shop.amount, currency: GBP } ] }'
  const shops = 'vars: { shops: [{ n: a, amount: "1.00" }, { n: b, amount: "2.00" }] }\n'
  t.match(inputsOf(scenarioOf([named, 'bank: { approve: $p_b }'], shops)), [
    { as: 'p_a', amount: '1.00' },
    { as: 'p_b', amount: '2.00' },
    { approve: '$p_b' },
  ])
  const over = 'for_each: { in: [$p1, $p2], as: one, steps: [ bank: { approve: $one } ] }'
  t.match(inputsOf(scenarioOf([PAY, PAY.replace('p1', 'p2'), over])).slice(2), [{ approve: '$p1' }, { approve: '$p2' }])
})

t.test('a loop that can be none is refused at its place', async (t) => {
  const told = (loop: string, vars = ''): string[] => mistakesOf(scenarioOf([PAY, `for_each: ${loop}`], vars))
  t.same(told('{ as: x, steps: [ clock: { advance: 1h } ] }'), ['5:5 "in" is missing here'])
  t.same(told('{ in: [1], steps: [ clock: { advance: 1h } ] }'), ['5:5 "as" is missing here'])
  t.same(told('{ in: [1], as: x, steps: [] }'), ['5:40 steps must have at least 1 entry'])
  t.same(told('{ in: [1], as: x, step: [] }').toSorted(), [
    '5:33 unknown field "step": did you mean "steps"?',
    '5:5 "steps" is missing here',
  ])
  t.match(told('{ in: $p1, as: x, steps: [ clock: { advance: 1h } ] }'), [
    /^5:21 in must be a list, or a variable that is one; \$p1/,
  ])
  t.match(told('{ in: [1], as: p1, steps: [ clock: { advance: 1h } ] }'), [/^5:30 the name "p1" is taken already/])
  t.match(told('{ in: ["1.00"], as: x, steps: [ pays: {} ] }'), [/unknown verb "pays": did you mean "pay"/], 'once')
  t.match(told('{ in: ["1", "2"], as: x, steps: [ pay: { amount: $y, currency: GBP } ] }'), [/unknown reference \$y/])
  t.match(told('{ in: ["1"], as: x, steps: [ clock: { advance: 1h } ] }\n    acting_as: $merchant'), [
    /^6:5 "acting_as" can't be combined with for_each/,
  ])
  const deep = '{ in: $n, as: x, steps: [ for_each: { in: $n, as: y, steps: [ clock: { advance: 1h } ] } ] }'
  t.match(told(deep, `vars: { n: [${[...Array(50).keys()].join()}] }\n`), [/more than 2000 steps/])
  const round = (inner: string): string => `{ for_each: { in: $n, as: x, steps: [ ${inner} ] } }`
  const endless = `{ in: $n, as: x, steps: [ ${round(round(round('{ use: ./nowhere.yaml }')))} ] }`
  const all = told(endless, `vars: { n: [${[...Array(40).keys()].join()}] }\n`)
  t.match(all, [/more than 2000 steps/, /nowhere/], 'loops around nothing have an end, too')
  t.match(mistakesOf(scenarioOf([PAY, 'for_eahc: { in: [1] }'])), [/did you mean "for_each"/])
})

t.test('branches of parallel see what was before them, and not each other', async (t) => {
  const bank =
    'parallel:\n      - bank: { approve: $p1 }\n      - [ pay: { as: p2, amount: "1.00", currency: GBP }, bank: { cancel: $p2 } ]'
  t.same(toldOf(scenarioOf([PAY, bank, 'await: { payment: $p2, status: Failed }'])), [
    `1 ${PAY}`,
    '2.1 bank: { approve: $p1 }',
    '2.2.1 pay: { as: p2, amount: "1.00", currency: GBP }',
    '2.2.2 bank: { cancel: $p2 }',
    '3 await: { payment: $p2, status: Failed }',
  ])
  t.match(casesOf(scenarioOf([PAY, bank]))[0]?.plan, [
    { number: 1 },
    { branches: [[{ number: 2 }], [{ number: 3 }, {}]] },
  ])
  const told = (...branches: string[]): string[] =>
    mistakesOf(scenarioOf([PAY, `parallel:\n${branches.map((branch) => `      - ${branch}\n`).join('')}`]))
  t.same(told('pay: { as: p2, amount: "1.00", currency: GBP }', 'bank: { cancel: $p2 }'), [
    '7:25 $p2 is made at the same time, in another branch of parallel',
  ])
  t.same(
    told('pay: { as: p2, amount: "1.00", currency: GBP }', 'pay: { as: p2, amount: "1.00", currency: GBP }').length,
    2,
  )
  t.same(told('bank: { approve: $p1 }'), ['6:7 parallel must have at least 2 entries'])
  t.match(mistakesOf(scenarioOf(['parallel: { a: 1 }'])), [/^4:15 parallel must be a list/])
  t.match(told('bank: { approve: $p1 }', 'oops'), [/a step must be a verb/])
})

t.test('the rounds of a loop may be played at once', async (t) => {
  const loop = (as: string, items = '[1, 2, 3]'): string =>
    scenarioOf([
      `for_each: { in: ${items}, as: n, at_once: true, steps: [ pay: { as: ${as}, amount: "1.00", currency: GBP }, bank: { approve: "$p\${n}" } ] }`,
      'bank: { cancel: $p3 }',
    ])
  t.match(casesOf(loop('"p${n}"'))[0]?.plan, [
    {
      branches: [
        [{ label: '1.1.1' }, { label: '1.1.2' }],
        [{ input: { as: 'p2' } }, {}],
        [{}, {}],
      ],
    },
    { label: '2' },
  ])
  t.match(mistakesOf(loop('p3')), [/"p3" is given at the same time in another branch/, /unknown reference/])
  t.match(mistakesOf(loop('"p${n}"', `[${[...Array(33).keys()].join()}]`)), [/^4:\d+ 33 rounds are more than the 32/])
})

t.test('the steps of another file are used where it is named, beside the file that names it', async (t) => {
  const part = `scenario: part\nname: paid\nvars: { amount: "1.00", p: none }\nsteps:\n  - ${AMOUNT.replace('amount:', 'as: paid, amount:')}\n  - bank: { approve: $paid }\n`
  const cwd = t.testdir({
    'a.yaml': scenarioOf([
      'use: parts/paid.yaml',
      'use: { file: parts/paid.yaml, vars: { amount: "7.00" } }',
      'payments.refund: { payment: $paid }',
    ]),
    parts: { 'paid.yaml': part },
  })
  const { cases } = loadScenarios(['.'], { cwd, vars: {} })
  t.equal(cases.length, 1, 'a part is no case')
  t.match(cases[0]?.steps, [
    { label: '1.1', input: { amount: '1.00' }, source: { file: 'parts/paid.yaml' } },
    { label: '1.2' },
    { label: '2.1', input: { amount: '7.00' } },
    { label: '2.2' },
    { label: '3', source: { file: 'a.yaml' } },
  ])
  t.match(cases[0]?.steps[0]?.placeOf(['pay', 'amount']), { file: 'parts/paid.yaml', line: 5 })
  const [again] = loadScenarios(['a.yaml'], { cwd, vars: readVars(['amount=3.00']) }).cases
  t.match(
    again?.steps.map(({ input }) => input),
    [{ amount: '3.00' }, {}, { amount: '7.00' }],
    'of the command line too',
  )
  t.throws(() => loadScenarios(['parts'], { cwd, vars: {} }), { code: 'USAGE', message: /there is no case here/ })
})

t.test('a mistake in a used file is reported there, and a mistake in using it at its use', async (t) => {
  const cwd = t.testdir({
    'use.yaml': scenarioOf(['use: ./wrong.yaml', 'use: ./wrong.yaml']),
    'wrong.yaml': 'scenario: part\nname: wrong\ngiven: { receiver: false }\nsteps:\n  - pays: { }\n',
    'bad.yaml': scenarioOf(['use: ./bad-part.yaml']),
    'bad-part.yaml':
      'scenario: part\nname: bad\nsteps:\n  - bank: { approve: $p9 }\n  - pay: { amount: 5.00, currency: GBP }\n',
    'none.yaml': scenarioOf(['use: ./nothing.yaml']),
    'loop.yaml': scenarioOf(['use: ./loop-b.yaml']),
    'loop-b.yaml': 'scenario: part\nname: b\nsteps: [ use: loop.yaml ]\n',
    'many.yaml': scenarioOf([PAY, 'use: ./two.yaml']),
    'two.yaml': 'scenario: part\n---\nb: 1\n',
    'broken.yaml': scenarioOf(['use: ./no-yaml.txt']),
    'no-yaml.txt': 'scenario: part\nname: "x\n',
    'device.yaml': scenarioOf(['use: /dev/zero']),
    'folder.yaml': scenarioOf(['use: .']),
    'big.yaml': scenarioOf(['use: ./large.yaml']),
    'large.yaml': `scenario: part\n#${'x'.repeat(1024 * 1024)}\n`,
    'other.yaml': scenarioOf(['use: ./credentials']),
    credentials: '[default]\nkey = top-secret\n',
    'vars.yaml': scenarioOf(['use: { file: bad-part.yaml, vars: { amuont: 1 } }']),
  })
  const told = (file: string): string[] =>
    loadScenarios([file], { cwd, vars: {} }).mistakes.map(
      ({ place, message }) => `${place.file}:${place.line}:${place.column} ${message}`,
    )
  t.same(told('use.yaml'), ['wrong.yaml:3:1 unknown field "given"'])
  t.same(told('bad.yaml'), [
    'bad-part.yaml:4:22 unknown reference $p9',
    "bad-part.yaml:5:20 5.00 is a floating-point number here, which can't hold an amount exactly: quote it",
  ])
  t.same(told('none.yaml'), ["none.yaml:4:5 can't read nothing.yaml: there is no such file"])
  t.same(told('loop.yaml'), ['loop-b.yaml:3:10 this has no end: loop.yaml uses loop-b.yaml uses loop.yaml'])
  t.same(told('many.yaml'), ['many.yaml:5:5 two.yaml has 2 documents; steps are used of a file that has one'])
  t.match(told('broken.yaml'), [/^broken\.yaml:4:5 .*can't be used/, /^no-yaml\.txt:\d+:\d+ not valid YAML/])
  t.same(told('device.yaml'), ["device.yaml:4:5 can't read /dev/zero: it is not a regular file"])
  t.match(told('folder.yaml'), [/^folder\.yaml:4:5 can't read .*: it is not a regular file$/])
  t.same(told('big.yaml'), ["big.yaml:4:5 can't read large.yaml: it is larger than 1 MiB"])
  const others = loadScenarios(['other.yaml'], { cwd, vars: {} }).mistakes.map(mistakeText)
  t.match(others, [/credentials is not a scenario file/])
  t.notMatch(others.join(), /top-secret/, 'and no line of it is told')
  t.match(told('vars.yaml'), [/^vars\.yaml:4:41 bad-part\.yaml has no variable "amuont"/, /bad-part/, /bad-part/])
  t.match(mistakesOf(scenarioOf(['use: 5'])), [/^4:\d+ use must be text/])
  const [mistake] = loadScenarios(['bad.yaml'], { cwd, vars: {} }).mistakes
  t.match(mistake === undefined ? '' : mistakeText(mistake), /> 4 \| {3}- bank: \{ approve: \$p9 \}/)
})

t.test('acting_as names a merchant of the case', async (t) => {
  const other = 'merchant: { as: other }'
  const [scenario] = casesOf(scenarioOf([other, `${PAY}\n    acting_as: $other\n    expect_error: { http: 403 }`]))
  t.match(scenario?.steps[1], { actingAs: '$other', expectError: { http: 403 } })
  t.equal(scenario?.steps[0]?.actingAs, undefined)
  t.match(mistakesOf(scenarioOf([PAY, `clock: { advance: 1h }\n    acting_as: $p1`])), [
    /^6:16 \$p1 is not valid here: expected merchant/,
  ])
  t.match(mistakesOf(scenarioOf([`${PAY}\n    acting_as: other`])), [/^5:16 acting_as must be a merchant/])
  t.match(mistakesOf(scenarioOf([`${PAY}\n    acting_as: $other`, other])), [/^5:16 \$other is used before/])
  t.match(mistakesOf(scenarioOf([`${PAY}\n    acting_az: $other`])), [/did you mean "acting_as"/])
})

t.test('a list of the command line is one', async (t) => {
  const loop = `for_each: { in: $amounts, as: amount, steps: [ ${AMOUNT} ] }`
  const cwd = t.testdir({ 'a.yaml': scenarioOf([loop], 'vars: { amounts: ["1.00"] }\n') })
  const steps = (word: string): number =>
    loadScenarios(['a.yaml'], { cwd, vars: readVars([word]) }).cases[0]?.steps.length ?? 0
  t.equal(steps('amounts=["1.00", "2.00"]'), 2)
  t.throws(() => steps('amounts=1.00'), { message: /amounts is a list in a\.yaml, and not "1\.00"/ })
})

t.test('the JSON Schema has what holds steps, and each example is valid', async (t) => {
  const text = JSON.stringify(jsonSchema())
  for (const word of [...Object.keys(STRUCTURES), 'matrix', 'tags', 'acting_as']) t.ok(text.includes(`"${word}"`), word)
  const before = [PAY, PAY.replace('p1', 'p2')]
  const { parallel, for_each: loop } = STRUCTURES
  for (const { examples } of [parallel, loop]) t.same(mistakesOf(scenarioOf([...before, examples[0]])), [], examples[0])
})
