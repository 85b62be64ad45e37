/**
 * Each argument of a call takes a place on the stack: `list.push(...items)` throws a `RangeError` from some hundred thousand
 * items on. Lists that users or servers make can be that long.
 */
const methods = new Set(['push', 'unshift', 'splice', 'max', 'min', 'fromCharCode', 'fromCodePoint'])

const rule = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    return {
      CallExpression({ callee, arguments: given }) {
        if (callee.type !== 'MemberExpression' || callee.computed || !methods.has(callee.property.name)) return
        for (const argument of given)
          if (argument.type === 'SpreadElement' && argument.argument.type !== 'ArrayExpression')
            context.report({
              node: argument,
              message: 'A list that is spread into a call overflows the stack when it is long: use addAll or a loop.',
            })
      },
    }
  },
}

export default { meta: { name: 'own' }, rules: { 'no-list-spread': rule } }
