/** Whether a key belongs to an input method, which is choosing characters. Safari says so by its key code only. */
export const composes = ({ isComposing, keyCode }: { isComposing: boolean; keyCode: number }): boolean =>
  isComposing || keyCode === 229
