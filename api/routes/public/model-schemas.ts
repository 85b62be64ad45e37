import Type from 'typebox'

export const CompatModel = Type.Object(
  { id: Type.String(), object: Type.Literal('model'), created: Type.Integer(), owned_by: Type.String() },
  { title: 'CompatModel', about: 'A model, or an assistant that can be named as one.' },
)

export const CompatModelList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(CompatModel) },
  { title: 'CompatModelList', about: 'A list of models.' },
)
