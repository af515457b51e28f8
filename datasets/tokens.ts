import { Tokenizer } from '@huggingface/tokenizers'

/** How many tokens a text has, without those that a chat template adds. */
export type CountTokens = (text: string) => number

/** Throws if this is no `tokenizer.json` that the library can use. */
export function tokenCounter(json: object): CountTokens {
  const tokenizer = new Tokenizer(json, {})
  return text => tokenizer.encode(text, { add_special_tokens: false }).ids.length
}
