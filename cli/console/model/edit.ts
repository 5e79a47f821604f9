/** One line of text that is being typed, with the place of the cursor in it, counted in characters. */
export type Edit = { text: string; at: number }

export const NO_TEXT: Edit = { text: '', at: 0 }

export function editOf(text: string): Edit {
  return { text, at: [...text].length }
}

/** The line after one key; undefined where the key is none of an editor's. */
export function edited({ text, at }: Edit, key: string): Edit | undefined {
  const characters = [...text]
  const before = characters.slice(0, at)
  const after = characters.slice(at)
  const joined = (head: readonly string[], tail: readonly string[]): Edit => ({
    text: [...head, ...tail].join(''),
    at: head.length,
  })
  switch (key) {
    case 'left':
    case 'ctrl-b':
      return { text, at: Math.max(0, at - 1) }
    case 'right':
    case 'ctrl-f':
      return { text, at: Math.min(characters.length, at + 1) }
    case 'home':
    case 'ctrl-a':
      return { text, at: 0 }
    case 'end':
      return { text, at: characters.length }
    case 'backspace':
      return joined(before.slice(0, -1), after)
    case 'delete':
      return joined(before, after.slice(1))
    case 'ctrl-u':
      return joined([], after)
    case 'ctrl-k':
      return joined(before, [])
    case 'ctrl-w':
      return joined([...before.join('').replace(/\S+\s*$/, '')], after)
    case 'space':
      return joined([...before, ' '], after)
    default:
      return [...key].length === 1 ? joined([...before, key], after) : undefined
  }
}

/** The line with text put in at the cursor, as when it is pasted: line ends become blanks. */
export function inserted({ text, at }: Edit, more: string): Edit {
  const characters = [...text]
  const added = [...more.replaceAll(/\s+/g, ' ')]
  return {
    text: [...characters.slice(0, at), ...added, ...characters.slice(at)].join(''),
    at: at + added.length,
  }
}
