/** The words by which the `datasets` library recognises splits as well. */
const words: Record<string, readonly string[]> = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'val', 'dev'],
  test: ['test', 'testing', 'eval', 'evaluation'],
}

/** Takes the split of a file from its name, or else from its folders, the innermost first; `train` if none has one. */
export function splitOf(name: string): string {
  for (const part of name.toLowerCase().split('/').reverse()) {
    const found = part.split(/[^a-z]+/).flatMap(word => splitOfWord(word) ?? [])
    if (found[0] !== undefined) return found[0]
  }
  return 'train'
}

const splitOfWord = (word: string): string | undefined =>
  Object.keys(words).find(split => words[split]?.includes(word))
