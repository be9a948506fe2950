// Generated from schemas/*.schema.json by `npm run types`. Do not edit.
import { isLonger } from "../src/kit/texts.ts";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
export const chat = validate10;
const schema11 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/chat.schema.json","title":"ChatRequest","description":"Body of POST /v1/chat/completions. Unknown fields are allowed: they travel to the upstream.","type":"object","additionalProperties":true,"required":["model","messages"],"properties":{"model":{"description":"Identifier of a chat model.","type":"string","minLength":1},"messages":{"description":"The conversation so far: with its parts and tool calls at most 50,000 JSON values.","type":"array","minItems":1,"items":{"$ref":"#/definitions/message"}},"temperature":{"description":"Sampling temperature.","type":["number","null"]},"top_p":{"description":"Nucleus sampling.","type":["number","null"]},"max_tokens":{"description":"Most tokens of the answer.","type":["integer","null"],"minimum":1},"max_completion_tokens":{"description":"Most tokens of the answer, reasoning included.","type":["integer","null"],"minimum":1},"stream":{"description":"Answer as server-sent events.","type":["boolean","null"]},"stream_options":{"description":"Options of the stream.","type":["object","null"],"additionalProperties":true,"properties":{"include_usage":{"description":"Send a last event with the usage.","type":["boolean","null"]},"include_obfuscation":{"description":"Pad events against traffic analysis.","type":["boolean","null"]}}},"tools":{"description":"Tools the model may call.","type":["array","null"],"items":{"$ref":"#/definitions/tool"}},"tool_choice":{"description":"Which tool to call.","type":["string","object","null"]},"parallel_tool_calls":{"description":"Allow several calls at once.","type":["boolean","null"]},"functions":{"description":"Former name of tools.","type":["array","null"],"items":{"type":"object"}},"function_call":{"description":"Former name of tool_choice.","type":["string","object","null"]},"n":{"description":"Number of answers.","type":["integer","null"],"minimum":1,"maximum":128},"stop":{"description":"Texts that end the answer.","type":["string","array","null"],"items":{"type":"string"}},"seed":{"description":"Seed for repeatable sampling.","type":["integer","null"]},"frequency_penalty":{"description":"Penalty on repeated tokens.","type":["number","null"]},"presence_penalty":{"description":"Penalty on tokens that occurred.","type":["number","null"]},"logit_bias":{"description":"Bias by token id.","type":["object","null"]},"logprobs":{"description":"Return log probabilities.","type":["boolean","null"]},"top_logprobs":{"description":"How many alternatives per token.","type":["integer","null"],"minimum":0},"response_format":{"description":"Shape of the answer.","type":["object","null"]},"reasoning_effort":{"description":"How much to reason.","type":["string","null"]},"verbosity":{"description":"How long the answer is to be.","type":["string","null"]},"modalities":{"description":"Kinds of output.","type":["array","null"],"items":{"type":"string"}},"audio":{"description":"Options of audio output.","type":["object","null"]},"prediction":{"description":"Predicted output.","type":["object","null"]},"metadata":{"description":"Labels of the caller.","type":["object","null"]},"service_tier":{"description":"Processing class at the provider.","type":["string","null"]},"store":{"description":"Keep the answer at the provider.","type":["boolean","null"]},"web_search_options":{"description":"Options of the provider's web search.","type":["object","null"]},"prompt_cache_key":{"description":"Groups prompts for the provider's cache.","type":["string","null"]},"safety_identifier":{"description":"Stable pseudonym of the end user.","type":["string","null"]},"user":{"description":"Identifier of the end user.","type":["string","null"]}},"definitions":{"message":{"title":"ChatMessage","type":"object","additionalProperties":true,"required":["role"],"properties":{"role":{"description":"Who speaks: system, developer, user, assistant, tool, function.","type":"string","minLength":1},"content":{"description":"Text, or parts.","type":["string","array","null"],"items":{"$ref":"#/definitions/part"}},"name":{"description":"Name of the speaker.","type":["string","null"]},"tool_calls":{"description":"Calls the assistant made.","type":["array","null"],"items":{"type":"object"}},"tool_call_id":{"description":"The call a tool message answers.","type":["string","null"]},"refusal":{"description":"A refusal of the assistant.","type":["string","null"]},"function_call":{"description":"Former name of tool_calls.","type":["object","null"]},"reasoning_content":{"description":"Reasoning of an earlier answer.","type":["string","null"]}}},"part":{"title":"ChatContentPart","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"Kind of the part.","type":"string"},"text":{"description":"Text of a text part.","type":"string"}}},"tool":{"title":"ChatTool","type":"object","additionalProperties":true,"properties":{"type":{"description":"Kind of the tool; function.","type":"string"},"function":{"description":"The function.","type":"object","additionalProperties":true,"required":["name"],"properties":{"name":{"description":"Name the model calls it by.","type":"string","minLength":1},"description":{"description":"What it does.","type":["string","null"]},"parameters":{"description":"JSON Schema of its arguments.","type":["object","null"]},"strict":{"description":"Hold the model to the schema.","type":["boolean","null"]}}}}}}};
const schema14 = {"title":"ChatTool","type":"object","additionalProperties":true,"properties":{"type":{"description":"Kind of the tool; function.","type":"string"},"function":{"description":"The function.","type":"object","additionalProperties":true,"required":["name"],"properties":{"name":{"description":"Name the model calls it by.","type":"string","minLength":1},"description":{"description":"What it does.","type":["string","null"]},"parameters":{"description":"JSON Schema of its arguments.","type":["object","null"]},"strict":{"description":"Hold the model to the schema.","type":["boolean","null"]}}}}};
const func2 = isLonger;
const schema12 = {"title":"ChatMessage","type":"object","additionalProperties":true,"required":["role"],"properties":{"role":{"description":"Who speaks: system, developer, user, assistant, tool, function.","type":"string","minLength":1},"content":{"description":"Text, or parts.","type":["string","array","null"],"items":{"$ref":"#/definitions/part"}},"name":{"description":"Name of the speaker.","type":["string","null"]},"tool_calls":{"description":"Calls the assistant made.","type":["array","null"],"items":{"type":"object"}},"tool_call_id":{"description":"The call a tool message answers.","type":["string","null"]},"refusal":{"description":"A refusal of the assistant.","type":["string","null"]},"function_call":{"description":"Former name of tool_calls.","type":["object","null"]},"reasoning_content":{"description":"Reasoning of an earlier answer.","type":["string","null"]}}};
const schema13 = {"title":"ChatContentPart","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"Kind of the part.","type":"string"},"text":{"description":"Text of a text part.","type":"string"}}};

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.role === undefined) && (missing0 = "role")){
validate11.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema12.required,parentSchema:schema12,data}];
return false;
}
else {
if(data.role !== undefined){
let data0 = data.role;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate11.errors = [{instancePath:instancePath+"/role",schemaPath:"#/properties/role/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema12.properties.role,data:data0}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/role",schemaPath:"#/properties/role/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema12.properties.role.type,parentSchema:schema12.properties.role,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.content !== undefined){
let data1 = data.content;
const _errs4 = errors;
if(((typeof data1 !== "string") && (!(Array.isArray(data1)))) && (data1 !== null)){
validate11.errors = [{instancePath:instancePath+"/content",schemaPath:"#/properties/content/type",keyword:"type",params:{type: schema12.properties.content.type},message:"must be string,array,null",schema:schema12.properties.content.type,parentSchema:schema12.properties.content,data:data1}];
return false;
}
if(errors === _errs4){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing1;
if((data2.type === undefined) && (missing1 = "type")){
validate11.errors = [{instancePath:instancePath+"/content/" + i0,schemaPath:"#/definitions/part/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema13.required,parentSchema:schema13,data:data2}];
return false;
}
else {
if(data2.type !== undefined){
let data3 = data2.type;
const _errs10 = errors;
if(typeof data3 !== "string"){
validate11.errors = [{instancePath:instancePath+"/content/" + i0+"/type",schemaPath:"#/definitions/part/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.type.type,parentSchema:schema13.properties.type,data:data3}];
return false;
}
var valid3 = _errs10 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data2.text !== undefined){
let data4 = data2.text;
const _errs12 = errors;
if(typeof data4 !== "string"){
validate11.errors = [{instancePath:instancePath+"/content/" + i0+"/text",schemaPath:"#/definitions/part/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.text.type,parentSchema:schema13.properties.text,data:data4}];
return false;
}
var valid3 = _errs12 === errors;
}
else {
var valid3 = true;
}
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/content/" + i0,schemaPath:"#/definitions/part/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema13.type,parentSchema:schema13,data:data2}];
return false;
}
}
var valid1 = _errs6 === errors;
if(!valid1){
break;
}
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data5 = data.name;
const _errs14 = errors;
if((typeof data5 !== "string") && (data5 !== null)){
validate11.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: schema12.properties.name.type},message:"must be string,null",schema:schema12.properties.name.type,parentSchema:schema12.properties.name,data:data5}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tool_calls !== undefined){
let data6 = data.tool_calls;
const _errs16 = errors;
if((!(Array.isArray(data6))) && (data6 !== null)){
validate11.errors = [{instancePath:instancePath+"/tool_calls",schemaPath:"#/properties/tool_calls/type",keyword:"type",params:{type: schema12.properties.tool_calls.type},message:"must be array,null",schema:schema12.properties.tool_calls.type,parentSchema:schema12.properties.tool_calls,data:data6}];
return false;
}
if(errors === _errs16){
if(Array.isArray(data6)){
var valid4 = true;
const len1 = data6.length;
for(let i1=0; i1<len1; i1++){
let data7 = data6[i1];
const _errs18 = errors;
if(!(data7 && typeof data7 == "object" && !Array.isArray(data7))){
validate11.errors = [{instancePath:instancePath+"/tool_calls/" + i1,schemaPath:"#/properties/tool_calls/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema12.properties.tool_calls.items.type,parentSchema:schema12.properties.tool_calls.items,data:data7}];
return false;
}
var valid4 = _errs18 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tool_call_id !== undefined){
let data8 = data.tool_call_id;
const _errs20 = errors;
if((typeof data8 !== "string") && (data8 !== null)){
validate11.errors = [{instancePath:instancePath+"/tool_call_id",schemaPath:"#/properties/tool_call_id/type",keyword:"type",params:{type: schema12.properties.tool_call_id.type},message:"must be string,null",schema:schema12.properties.tool_call_id.type,parentSchema:schema12.properties.tool_call_id,data:data8}];
return false;
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.refusal !== undefined){
let data9 = data.refusal;
const _errs22 = errors;
if((typeof data9 !== "string") && (data9 !== null)){
validate11.errors = [{instancePath:instancePath+"/refusal",schemaPath:"#/properties/refusal/type",keyword:"type",params:{type: schema12.properties.refusal.type},message:"must be string,null",schema:schema12.properties.refusal.type,parentSchema:schema12.properties.refusal,data:data9}];
return false;
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.function_call !== undefined){
let data10 = data.function_call;
const _errs24 = errors;
if((!(data10 && typeof data10 == "object" && !Array.isArray(data10))) && (data10 !== null)){
validate11.errors = [{instancePath:instancePath+"/function_call",schemaPath:"#/properties/function_call/type",keyword:"type",params:{type: schema12.properties.function_call.type},message:"must be object,null",schema:schema12.properties.function_call.type,parentSchema:schema12.properties.function_call,data:data10}];
return false;
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reasoning_content !== undefined){
let data11 = data.reasoning_content;
const _errs26 = errors;
if((typeof data11 !== "string") && (data11 !== null)){
validate11.errors = [{instancePath:instancePath+"/reasoning_content",schemaPath:"#/properties/reasoning_content/type",keyword:"type",params:{type: schema12.properties.reasoning_content.type},message:"must be string,null",schema:schema12.properties.reasoning_content.type,parentSchema:schema12.properties.reasoning_content,data:data11}];
return false;
}
var valid0 = _errs26 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate11.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema12.type,parentSchema:schema12,data}];
return false;
}
}
validate11.errors = vErrors;
return errors === 0;
}


function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/chat.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.model === undefined) && (missing0 = "model")) || ((data.messages === undefined) && (missing0 = "messages"))){
validate10.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema11.required,parentSchema:schema11,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate10.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema11.properties.model,data:data0}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.model.type,parentSchema:schema11.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.messages !== undefined){
let data1 = data.messages;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data1)){
if(data1.length < 1){
validate10.errors = [{instancePath:instancePath+"/messages",schemaPath:"#/properties/messages/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema11.properties.messages,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs6 = errors;
if(!(validate11(data1[i0], {instancePath:instancePath+"/messages/" + i0,parentData:data1,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate11.errors : vErrors.concat(validate11.errors);
errors = vErrors.length;
}
var valid1 = _errs6 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate10.errors = [{instancePath:instancePath+"/messages",schemaPath:"#/properties/messages/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema11.properties.messages.type,parentSchema:schema11.properties.messages,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.temperature !== undefined){
let data3 = data.temperature;
const _errs7 = errors;
if((!((typeof data3 == "number") && (isFinite(data3)))) && (data3 !== null)){
validate10.errors = [{instancePath:instancePath+"/temperature",schemaPath:"#/properties/temperature/type",keyword:"type",params:{type: schema11.properties.temperature.type},message:"must be number,null",schema:schema11.properties.temperature.type,parentSchema:schema11.properties.temperature,data:data3}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.top_p !== undefined){
let data4 = data.top_p;
const _errs9 = errors;
if((!((typeof data4 == "number") && (isFinite(data4)))) && (data4 !== null)){
validate10.errors = [{instancePath:instancePath+"/top_p",schemaPath:"#/properties/top_p/type",keyword:"type",params:{type: schema11.properties.top_p.type},message:"must be number,null",schema:schema11.properties.top_p.type,parentSchema:schema11.properties.top_p,data:data4}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.max_tokens !== undefined){
let data5 = data.max_tokens;
const _errs11 = errors;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (data5 !== null)){
validate10.errors = [{instancePath:instancePath+"/max_tokens",schemaPath:"#/properties/max_tokens/type",keyword:"type",params:{type: schema11.properties.max_tokens.type},message:"must be integer,null",schema:schema11.properties.max_tokens.type,parentSchema:schema11.properties.max_tokens,data:data5}];
return false;
}
if(errors === _errs11){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 1 || isNaN(data5)){
validate10.errors = [{instancePath:instancePath+"/max_tokens",schemaPath:"#/properties/max_tokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema11.properties.max_tokens,data:data5}];
return false;
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.max_completion_tokens !== undefined){
let data6 = data.max_completion_tokens;
const _errs13 = errors;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (data6 !== null)){
validate10.errors = [{instancePath:instancePath+"/max_completion_tokens",schemaPath:"#/properties/max_completion_tokens/type",keyword:"type",params:{type: schema11.properties.max_completion_tokens.type},message:"must be integer,null",schema:schema11.properties.max_completion_tokens.type,parentSchema:schema11.properties.max_completion_tokens,data:data6}];
return false;
}
if(errors === _errs13){
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 1 || isNaN(data6)){
validate10.errors = [{instancePath:instancePath+"/max_completion_tokens",schemaPath:"#/properties/max_completion_tokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema11.properties.max_completion_tokens,data:data6}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream !== undefined){
let data7 = data.stream;
const _errs15 = errors;
if((typeof data7 !== "boolean") && (data7 !== null)){
validate10.errors = [{instancePath:instancePath+"/stream",schemaPath:"#/properties/stream/type",keyword:"type",params:{type: schema11.properties.stream.type},message:"must be boolean,null",schema:schema11.properties.stream.type,parentSchema:schema11.properties.stream,data:data7}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream_options !== undefined){
let data8 = data.stream_options;
const _errs17 = errors;
if((!(data8 && typeof data8 == "object" && !Array.isArray(data8))) && (data8 !== null)){
validate10.errors = [{instancePath:instancePath+"/stream_options",schemaPath:"#/properties/stream_options/type",keyword:"type",params:{type: schema11.properties.stream_options.type},message:"must be object,null",schema:schema11.properties.stream_options.type,parentSchema:schema11.properties.stream_options,data:data8}];
return false;
}
if(errors === _errs17){
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
if(data8.include_usage !== undefined){
let data9 = data8.include_usage;
const _errs20 = errors;
if((typeof data9 !== "boolean") && (data9 !== null)){
validate10.errors = [{instancePath:instancePath+"/stream_options/include_usage",schemaPath:"#/properties/stream_options/properties/include_usage/type",keyword:"type",params:{type: schema11.properties.stream_options.properties.include_usage.type},message:"must be boolean,null",schema:schema11.properties.stream_options.properties.include_usage.type,parentSchema:schema11.properties.stream_options.properties.include_usage,data:data9}];
return false;
}
var valid2 = _errs20 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data8.include_obfuscation !== undefined){
let data10 = data8.include_obfuscation;
const _errs22 = errors;
if((typeof data10 !== "boolean") && (data10 !== null)){
validate10.errors = [{instancePath:instancePath+"/stream_options/include_obfuscation",schemaPath:"#/properties/stream_options/properties/include_obfuscation/type",keyword:"type",params:{type: schema11.properties.stream_options.properties.include_obfuscation.type},message:"must be boolean,null",schema:schema11.properties.stream_options.properties.include_obfuscation.type,parentSchema:schema11.properties.stream_options.properties.include_obfuscation,data:data10}];
return false;
}
var valid2 = _errs22 === errors;
}
else {
var valid2 = true;
}
}
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tools !== undefined){
let data11 = data.tools;
const _errs24 = errors;
if((!(Array.isArray(data11))) && (data11 !== null)){
validate10.errors = [{instancePath:instancePath+"/tools",schemaPath:"#/properties/tools/type",keyword:"type",params:{type: schema11.properties.tools.type},message:"must be array,null",schema:schema11.properties.tools.type,parentSchema:schema11.properties.tools,data:data11}];
return false;
}
if(errors === _errs24){
if(Array.isArray(data11)){
var valid3 = true;
const len1 = data11.length;
for(let i1=0; i1<len1; i1++){
let data12 = data11[i1];
const _errs26 = errors;
const _errs27 = errors;
if(errors === _errs27){
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
if(data12.type !== undefined){
let data13 = data12.type;
const _errs30 = errors;
if(typeof data13 !== "string"){
validate10.errors = [{instancePath:instancePath+"/tools/" + i1+"/type",schemaPath:"#/definitions/tool/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.type.type,parentSchema:schema14.properties.type,data:data13}];
return false;
}
var valid5 = _errs30 === errors;
}
else {
var valid5 = true;
}
if(valid5){
if(data12.function !== undefined){
let data14 = data12.function;
const _errs32 = errors;
if(errors === _errs32){
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
let missing1;
if((data14.name === undefined) && (missing1 = "name")){
validate10.errors = [{instancePath:instancePath+"/tools/" + i1+"/function",schemaPath:"#/definitions/tool/properties/function/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema14.properties.function.required,parentSchema:schema14.properties.function,data:data14}];
return false;
}
else {
if(data14.name !== undefined){
let data15 = data14.name;
const _errs35 = errors;
if(errors === _errs35){
if(typeof data15 === "string"){
if(!func2(data15, 0)){
validate10.errors = [{instancePath:instancePath+"/tools/" + i1+"/function/name",schemaPath:"#/definitions/tool/properties/function/properties/name/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema14.properties.function.properties.name,data:data15}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/tools/" + i1+"/function/name",schemaPath:"#/definitions/tool/properties/function/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.function.properties.name.type,parentSchema:schema14.properties.function.properties.name,data:data15}];
return false;
}
}
var valid6 = _errs35 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data14.description !== undefined){
let data16 = data14.description;
const _errs37 = errors;
if((typeof data16 !== "string") && (data16 !== null)){
validate10.errors = [{instancePath:instancePath+"/tools/" + i1+"/function/description",schemaPath:"#/definitions/tool/properties/function/properties/description/type",keyword:"type",params:{type: schema14.properties.function.properties.description.type},message:"must be string,null",schema:schema14.properties.function.properties.description.type,parentSchema:schema14.properties.function.properties.description,data:data16}];
return false;
}
var valid6 = _errs37 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data14.parameters !== undefined){
let data17 = data14.parameters;
const _errs39 = errors;
if((!(data17 && typeof data17 == "object" && !Array.isArray(data17))) && (data17 !== null)){
validate10.errors = [{instancePath:instancePath+"/tools/" + i1+"/function/parameters",schemaPath:"#/definitions/tool/properties/function/properties/parameters/type",keyword:"type",params:{type: schema14.properties.function.properties.parameters.type},message:"must be object,null",schema:schema14.properties.function.properties.parameters.type,parentSchema:schema14.properties.function.properties.parameters,data:data17}];
return false;
}
var valid6 = _errs39 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data14.strict !== undefined){
let data18 = data14.strict;
const _errs41 = errors;
if((typeof data18 !== "boolean") && (data18 !== null)){
validate10.errors = [{instancePath:instancePath+"/tools/" + i1+"/function/strict",schemaPath:"#/definitions/tool/properties/function/properties/strict/type",keyword:"type",params:{type: schema14.properties.function.properties.strict.type},message:"must be boolean,null",schema:schema14.properties.function.properties.strict.type,parentSchema:schema14.properties.function.properties.strict,data:data18}];
return false;
}
var valid6 = _errs41 === errors;
}
else {
var valid6 = true;
}
}
}
}
}
}
else {
validate10.errors = [{instancePath:instancePath+"/tools/" + i1+"/function",schemaPath:"#/definitions/tool/properties/function/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema14.properties.function.type,parentSchema:schema14.properties.function,data:data14}];
return false;
}
}
var valid5 = _errs32 === errors;
}
else {
var valid5 = true;
}
}
}
else {
validate10.errors = [{instancePath:instancePath+"/tools/" + i1,schemaPath:"#/definitions/tool/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema14.type,parentSchema:schema14,data:data12}];
return false;
}
}
var valid3 = _errs26 === errors;
if(!valid3){
break;
}
}
}
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tool_choice !== undefined){
let data19 = data.tool_choice;
const _errs43 = errors;
if(((typeof data19 !== "string") && (!(data19 && typeof data19 == "object" && !Array.isArray(data19)))) && (data19 !== null)){
validate10.errors = [{instancePath:instancePath+"/tool_choice",schemaPath:"#/properties/tool_choice/type",keyword:"type",params:{type: schema11.properties.tool_choice.type},message:"must be string,object,null",schema:schema11.properties.tool_choice.type,parentSchema:schema11.properties.tool_choice,data:data19}];
return false;
}
var valid0 = _errs43 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parallel_tool_calls !== undefined){
let data20 = data.parallel_tool_calls;
const _errs45 = errors;
if((typeof data20 !== "boolean") && (data20 !== null)){
validate10.errors = [{instancePath:instancePath+"/parallel_tool_calls",schemaPath:"#/properties/parallel_tool_calls/type",keyword:"type",params:{type: schema11.properties.parallel_tool_calls.type},message:"must be boolean,null",schema:schema11.properties.parallel_tool_calls.type,parentSchema:schema11.properties.parallel_tool_calls,data:data20}];
return false;
}
var valid0 = _errs45 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.functions !== undefined){
let data21 = data.functions;
const _errs47 = errors;
if((!(Array.isArray(data21))) && (data21 !== null)){
validate10.errors = [{instancePath:instancePath+"/functions",schemaPath:"#/properties/functions/type",keyword:"type",params:{type: schema11.properties.functions.type},message:"must be array,null",schema:schema11.properties.functions.type,parentSchema:schema11.properties.functions,data:data21}];
return false;
}
if(errors === _errs47){
if(Array.isArray(data21)){
var valid7 = true;
const len2 = data21.length;
for(let i2=0; i2<len2; i2++){
let data22 = data21[i2];
const _errs49 = errors;
if(!(data22 && typeof data22 == "object" && !Array.isArray(data22))){
validate10.errors = [{instancePath:instancePath+"/functions/" + i2,schemaPath:"#/properties/functions/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema11.properties.functions.items.type,parentSchema:schema11.properties.functions.items,data:data22}];
return false;
}
var valid7 = _errs49 === errors;
if(!valid7){
break;
}
}
}
}
var valid0 = _errs47 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.function_call !== undefined){
let data23 = data.function_call;
const _errs51 = errors;
if(((typeof data23 !== "string") && (!(data23 && typeof data23 == "object" && !Array.isArray(data23)))) && (data23 !== null)){
validate10.errors = [{instancePath:instancePath+"/function_call",schemaPath:"#/properties/function_call/type",keyword:"type",params:{type: schema11.properties.function_call.type},message:"must be string,object,null",schema:schema11.properties.function_call.type,parentSchema:schema11.properties.function_call,data:data23}];
return false;
}
var valid0 = _errs51 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.n !== undefined){
let data24 = data.n;
const _errs53 = errors;
if((!(((typeof data24 == "number") && (!(data24 % 1) && !isNaN(data24))) && (isFinite(data24)))) && (data24 !== null)){
validate10.errors = [{instancePath:instancePath+"/n",schemaPath:"#/properties/n/type",keyword:"type",params:{type: schema11.properties.n.type},message:"must be integer,null",schema:schema11.properties.n.type,parentSchema:schema11.properties.n,data:data24}];
return false;
}
if(errors === _errs53){
if((typeof data24 == "number") && (isFinite(data24))){
if(data24 > 128 || isNaN(data24)){
validate10.errors = [{instancePath:instancePath+"/n",schemaPath:"#/properties/n/maximum",keyword:"maximum",params:{comparison: "<=", limit: 128},message:"must be <= 128",schema:128,parentSchema:schema11.properties.n,data:data24}];
return false;
}
else {
if(data24 < 1 || isNaN(data24)){
validate10.errors = [{instancePath:instancePath+"/n",schemaPath:"#/properties/n/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema11.properties.n,data:data24}];
return false;
}
}
}
}
var valid0 = _errs53 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stop !== undefined){
let data25 = data.stop;
const _errs55 = errors;
if(((typeof data25 !== "string") && (!(Array.isArray(data25)))) && (data25 !== null)){
validate10.errors = [{instancePath:instancePath+"/stop",schemaPath:"#/properties/stop/type",keyword:"type",params:{type: schema11.properties.stop.type},message:"must be string,array,null",schema:schema11.properties.stop.type,parentSchema:schema11.properties.stop,data:data25}];
return false;
}
if(errors === _errs55){
if(Array.isArray(data25)){
var valid8 = true;
const len3 = data25.length;
for(let i3=0; i3<len3; i3++){
let data26 = data25[i3];
const _errs57 = errors;
if(typeof data26 !== "string"){
validate10.errors = [{instancePath:instancePath+"/stop/" + i3,schemaPath:"#/properties/stop/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.stop.items.type,parentSchema:schema11.properties.stop.items,data:data26}];
return false;
}
var valid8 = _errs57 === errors;
if(!valid8){
break;
}
}
}
}
var valid0 = _errs55 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.seed !== undefined){
let data27 = data.seed;
const _errs59 = errors;
if((!(((typeof data27 == "number") && (!(data27 % 1) && !isNaN(data27))) && (isFinite(data27)))) && (data27 !== null)){
validate10.errors = [{instancePath:instancePath+"/seed",schemaPath:"#/properties/seed/type",keyword:"type",params:{type: schema11.properties.seed.type},message:"must be integer,null",schema:schema11.properties.seed.type,parentSchema:schema11.properties.seed,data:data27}];
return false;
}
var valid0 = _errs59 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.frequency_penalty !== undefined){
let data28 = data.frequency_penalty;
const _errs61 = errors;
if((!((typeof data28 == "number") && (isFinite(data28)))) && (data28 !== null)){
validate10.errors = [{instancePath:instancePath+"/frequency_penalty",schemaPath:"#/properties/frequency_penalty/type",keyword:"type",params:{type: schema11.properties.frequency_penalty.type},message:"must be number,null",schema:schema11.properties.frequency_penalty.type,parentSchema:schema11.properties.frequency_penalty,data:data28}];
return false;
}
var valid0 = _errs61 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.presence_penalty !== undefined){
let data29 = data.presence_penalty;
const _errs63 = errors;
if((!((typeof data29 == "number") && (isFinite(data29)))) && (data29 !== null)){
validate10.errors = [{instancePath:instancePath+"/presence_penalty",schemaPath:"#/properties/presence_penalty/type",keyword:"type",params:{type: schema11.properties.presence_penalty.type},message:"must be number,null",schema:schema11.properties.presence_penalty.type,parentSchema:schema11.properties.presence_penalty,data:data29}];
return false;
}
var valid0 = _errs63 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.logit_bias !== undefined){
let data30 = data.logit_bias;
const _errs65 = errors;
if((!(data30 && typeof data30 == "object" && !Array.isArray(data30))) && (data30 !== null)){
validate10.errors = [{instancePath:instancePath+"/logit_bias",schemaPath:"#/properties/logit_bias/type",keyword:"type",params:{type: schema11.properties.logit_bias.type},message:"must be object,null",schema:schema11.properties.logit_bias.type,parentSchema:schema11.properties.logit_bias,data:data30}];
return false;
}
var valid0 = _errs65 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.logprobs !== undefined){
let data31 = data.logprobs;
const _errs67 = errors;
if((typeof data31 !== "boolean") && (data31 !== null)){
validate10.errors = [{instancePath:instancePath+"/logprobs",schemaPath:"#/properties/logprobs/type",keyword:"type",params:{type: schema11.properties.logprobs.type},message:"must be boolean,null",schema:schema11.properties.logprobs.type,parentSchema:schema11.properties.logprobs,data:data31}];
return false;
}
var valid0 = _errs67 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.top_logprobs !== undefined){
let data32 = data.top_logprobs;
const _errs69 = errors;
if((!(((typeof data32 == "number") && (!(data32 % 1) && !isNaN(data32))) && (isFinite(data32)))) && (data32 !== null)){
validate10.errors = [{instancePath:instancePath+"/top_logprobs",schemaPath:"#/properties/top_logprobs/type",keyword:"type",params:{type: schema11.properties.top_logprobs.type},message:"must be integer,null",schema:schema11.properties.top_logprobs.type,parentSchema:schema11.properties.top_logprobs,data:data32}];
return false;
}
if(errors === _errs69){
if((typeof data32 == "number") && (isFinite(data32))){
if(data32 < 0 || isNaN(data32)){
validate10.errors = [{instancePath:instancePath+"/top_logprobs",schemaPath:"#/properties/top_logprobs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema11.properties.top_logprobs,data:data32}];
return false;
}
}
}
var valid0 = _errs69 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.response_format !== undefined){
let data33 = data.response_format;
const _errs71 = errors;
if((!(data33 && typeof data33 == "object" && !Array.isArray(data33))) && (data33 !== null)){
validate10.errors = [{instancePath:instancePath+"/response_format",schemaPath:"#/properties/response_format/type",keyword:"type",params:{type: schema11.properties.response_format.type},message:"must be object,null",schema:schema11.properties.response_format.type,parentSchema:schema11.properties.response_format,data:data33}];
return false;
}
var valid0 = _errs71 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reasoning_effort !== undefined){
let data34 = data.reasoning_effort;
const _errs73 = errors;
if((typeof data34 !== "string") && (data34 !== null)){
validate10.errors = [{instancePath:instancePath+"/reasoning_effort",schemaPath:"#/properties/reasoning_effort/type",keyword:"type",params:{type: schema11.properties.reasoning_effort.type},message:"must be string,null",schema:schema11.properties.reasoning_effort.type,parentSchema:schema11.properties.reasoning_effort,data:data34}];
return false;
}
var valid0 = _errs73 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.verbosity !== undefined){
let data35 = data.verbosity;
const _errs75 = errors;
if((typeof data35 !== "string") && (data35 !== null)){
validate10.errors = [{instancePath:instancePath+"/verbosity",schemaPath:"#/properties/verbosity/type",keyword:"type",params:{type: schema11.properties.verbosity.type},message:"must be string,null",schema:schema11.properties.verbosity.type,parentSchema:schema11.properties.verbosity,data:data35}];
return false;
}
var valid0 = _errs75 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.modalities !== undefined){
let data36 = data.modalities;
const _errs77 = errors;
if((!(Array.isArray(data36))) && (data36 !== null)){
validate10.errors = [{instancePath:instancePath+"/modalities",schemaPath:"#/properties/modalities/type",keyword:"type",params:{type: schema11.properties.modalities.type},message:"must be array,null",schema:schema11.properties.modalities.type,parentSchema:schema11.properties.modalities,data:data36}];
return false;
}
if(errors === _errs77){
if(Array.isArray(data36)){
var valid9 = true;
const len4 = data36.length;
for(let i4=0; i4<len4; i4++){
let data37 = data36[i4];
const _errs79 = errors;
if(typeof data37 !== "string"){
validate10.errors = [{instancePath:instancePath+"/modalities/" + i4,schemaPath:"#/properties/modalities/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.modalities.items.type,parentSchema:schema11.properties.modalities.items,data:data37}];
return false;
}
var valid9 = _errs79 === errors;
if(!valid9){
break;
}
}
}
}
var valid0 = _errs77 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.audio !== undefined){
let data38 = data.audio;
const _errs81 = errors;
if((!(data38 && typeof data38 == "object" && !Array.isArray(data38))) && (data38 !== null)){
validate10.errors = [{instancePath:instancePath+"/audio",schemaPath:"#/properties/audio/type",keyword:"type",params:{type: schema11.properties.audio.type},message:"must be object,null",schema:schema11.properties.audio.type,parentSchema:schema11.properties.audio,data:data38}];
return false;
}
var valid0 = _errs81 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.prediction !== undefined){
let data39 = data.prediction;
const _errs83 = errors;
if((!(data39 && typeof data39 == "object" && !Array.isArray(data39))) && (data39 !== null)){
validate10.errors = [{instancePath:instancePath+"/prediction",schemaPath:"#/properties/prediction/type",keyword:"type",params:{type: schema11.properties.prediction.type},message:"must be object,null",schema:schema11.properties.prediction.type,parentSchema:schema11.properties.prediction,data:data39}];
return false;
}
var valid0 = _errs83 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.metadata !== undefined){
let data40 = data.metadata;
const _errs85 = errors;
if((!(data40 && typeof data40 == "object" && !Array.isArray(data40))) && (data40 !== null)){
validate10.errors = [{instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: schema11.properties.metadata.type},message:"must be object,null",schema:schema11.properties.metadata.type,parentSchema:schema11.properties.metadata,data:data40}];
return false;
}
var valid0 = _errs85 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.service_tier !== undefined){
let data41 = data.service_tier;
const _errs87 = errors;
if((typeof data41 !== "string") && (data41 !== null)){
validate10.errors = [{instancePath:instancePath+"/service_tier",schemaPath:"#/properties/service_tier/type",keyword:"type",params:{type: schema11.properties.service_tier.type},message:"must be string,null",schema:schema11.properties.service_tier.type,parentSchema:schema11.properties.service_tier,data:data41}];
return false;
}
var valid0 = _errs87 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.store !== undefined){
let data42 = data.store;
const _errs89 = errors;
if((typeof data42 !== "boolean") && (data42 !== null)){
validate10.errors = [{instancePath:instancePath+"/store",schemaPath:"#/properties/store/type",keyword:"type",params:{type: schema11.properties.store.type},message:"must be boolean,null",schema:schema11.properties.store.type,parentSchema:schema11.properties.store,data:data42}];
return false;
}
var valid0 = _errs89 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.web_search_options !== undefined){
let data43 = data.web_search_options;
const _errs91 = errors;
if((!(data43 && typeof data43 == "object" && !Array.isArray(data43))) && (data43 !== null)){
validate10.errors = [{instancePath:instancePath+"/web_search_options",schemaPath:"#/properties/web_search_options/type",keyword:"type",params:{type: schema11.properties.web_search_options.type},message:"must be object,null",schema:schema11.properties.web_search_options.type,parentSchema:schema11.properties.web_search_options,data:data43}];
return false;
}
var valid0 = _errs91 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.prompt_cache_key !== undefined){
let data44 = data.prompt_cache_key;
const _errs93 = errors;
if((typeof data44 !== "string") && (data44 !== null)){
validate10.errors = [{instancePath:instancePath+"/prompt_cache_key",schemaPath:"#/properties/prompt_cache_key/type",keyword:"type",params:{type: schema11.properties.prompt_cache_key.type},message:"must be string,null",schema:schema11.properties.prompt_cache_key.type,parentSchema:schema11.properties.prompt_cache_key,data:data44}];
return false;
}
var valid0 = _errs93 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.safety_identifier !== undefined){
let data45 = data.safety_identifier;
const _errs95 = errors;
if((typeof data45 !== "string") && (data45 !== null)){
validate10.errors = [{instancePath:instancePath+"/safety_identifier",schemaPath:"#/properties/safety_identifier/type",keyword:"type",params:{type: schema11.properties.safety_identifier.type},message:"must be string,null",schema:schema11.properties.safety_identifier.type,parentSchema:schema11.properties.safety_identifier,data:data45}];
return false;
}
var valid0 = _errs95 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
let data46 = data.user;
const _errs97 = errors;
if((typeof data46 !== "string") && (data46 !== null)){
validate10.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: schema11.properties.user.type},message:"must be string,null",schema:schema11.properties.user.type,parentSchema:schema11.properties.user,data:data46}];
return false;
}
var valid0 = _errs97 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate10.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema11.type,parentSchema:schema11,data}];
return false;
}
}
validate10.errors = vErrors;
return errors === 0;
}

export const messages = validate13;
const schema15 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/messages.schema.json","title":"MessagesRequest","description":"Body of POST /v1/messages. Unknown fields are allowed: they travel to upstreams of the same format.","type":"object","additionalProperties":true,"required":["model","max_tokens","messages"],"properties":{"model":{"description":"Identifier of a chat model.","type":"string","minLength":1},"messages":{"description":"The conversation so far: with its parts and tool calls at most 50,000 JSON values.","type":"array","minItems":1,"items":{"$ref":"#/definitions/message"}},"system":{"description":"Instructions, as text or text blocks.","type":["string","array","null"],"items":{"$ref":"#/definitions/resultBlock"}},"max_tokens":{"description":"Most tokens of the answer, thinking included.","type":"integer","minimum":0},"temperature":{"description":"Sampling temperature.","type":["number","null"]},"top_p":{"description":"Nucleus sampling.","type":["number","null"]},"top_k":{"description":"Sample from the most likely tokens only.","type":["integer","null"]},"stop_sequences":{"description":"Texts that end the answer.","type":["array","null"],"items":{"type":"string"}},"stream":{"description":"Answer as server-sent events.","type":["boolean","null"]},"tools":{"description":"Tools the model may call.","type":["array","null"],"items":{"$ref":"#/definitions/tool"}},"tool_choice":{"description":"Which tool to call.","$ref":"#/definitions/toolChoice"},"thinking":{"description":"How to think: enabled with budget_tokens, adaptive, between_tools, disabled.","type":["object","null"],"additionalProperties":true,"required":["type"],"properties":{"type":{"description":"Kind of thinking.","type":"string","minLength":1},"budget_tokens":{"description":"Most tokens of thought.","type":["integer","null"],"minimum":1}}},"output_config":{"description":"How to answer.","type":["object","null"],"additionalProperties":true,"properties":{"effort":{"description":"How much to think.","type":["string","null"]},"format":{"description":"Shape of the answer.","type":["object","null"],"additionalProperties":true}}},"metadata":{"description":"Labels of the request.","type":["object","null"],"additionalProperties":true,"properties":{"user_id":{"description":"Identifier of the end user.","type":["string","null"]}}},"service_tier":{"description":"Processing class at the provider.","type":["string","null"]}},"definitions":{"message":{"title":"MessagesTurn","type":"object","additionalProperties":true,"required":["role","content"],"properties":{"role":{"description":"Who speaks.","enum":["user","assistant","system"]},"content":{"description":"Text, or blocks.","type":["string","array"],"items":{"$ref":"#/definitions/block"}}}},"block":{"title":"MessagesBlock","description":"A content block. Unknown types are allowed: they travel to upstreams of the same format.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"Kind of the block.","type":"string","minLength":1},"cache_control":{"description":"Marks the end of a prefix to cache.","$ref":"#/definitions/cacheControl"}},"allOf":[{"if":{"required":["type"],"properties":{"type":{"enum":["text"]}}},"then":{"required":["text"],"properties":{"text":{"description":"The text.","type":"string"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["image","document"]}}},"then":{"required":["source"],"properties":{"source":{"description":"Where the image or document is.","$ref":"#/definitions/source"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["tool_use"]}}},"then":{"required":["id","name","input"],"properties":{"id":{"description":"Names the call.","type":"string","minLength":1},"name":{"description":"Name of the tool.","type":"string","minLength":1},"input":{"description":"Its arguments.","type":"object"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["tool_result"]}}},"then":{"required":["tool_use_id"],"properties":{"tool_use_id":{"description":"The call it answers.","type":"string","minLength":1},"content":{"description":"Text, or blocks.","type":["string","array","null"],"items":{"$ref":"#/definitions/resultBlock"}},"is_error":{"description":"Whether the tool failed.","type":["boolean","null"]}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["thinking"]}}},"then":{"required":["thinking"],"properties":{"thinking":{"description":"The thought.","type":"string"},"signature":{"description":"What its provider signed it with.","type":["string","null"]}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["redacted_thinking"]}}},"then":{"required":["data"],"properties":{"data":{"description":"The encrypted thought.","type":"string"}}}}]},"resultBlock":{"title":"MessagesResultBlock","description":"A block of a tool's result. Unknown types are allowed.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"Kind of the block.","type":"string","minLength":1},"cache_control":{"description":"Marks the end of a prefix to cache.","$ref":"#/definitions/cacheControl"}},"allOf":[{"if":{"required":["type"],"properties":{"type":{"enum":["text"]}}},"then":{"required":["text"],"properties":{"text":{"description":"The text.","type":"string"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["image","document"]}}},"then":{"required":["source"],"properties":{"source":{"description":"Where the image or document is.","$ref":"#/definitions/source"}}}}]},"source":{"title":"MessagesSource","description":"Where the content of an image or document is.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"base64, url, text, content, file.","type":"string","minLength":1}},"allOf":[{"if":{"required":["type"],"properties":{"type":{"enum":["base64","text"]}}},"then":{"required":["media_type","data"],"properties":{"media_type":{"description":"Media type.","type":"string","minLength":1},"data":{"description":"Base64, or the text.","type":"string"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["url"]}}},"then":{"required":["url"],"properties":{"url":{"description":"Its address.","type":"string","minLength":1}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["file"]}}},"then":{"required":["file_id"],"properties":{"file_id":{"description":"A file kept by the provider.","type":"string","minLength":1}}}}]},"tool":{"title":"MessagesTool","description":"A tool of the client's, or by its type one of the provider's own.","type":"object","additionalProperties":true,"properties":{"type":{"description":"Left out or custom for a tool of the client's.","type":["string","null"]},"name":{"description":"Name the model calls it by.","type":"string","minLength":1},"description":{"description":"What it does.","type":["string","null"]},"input_schema":{"description":"JSON Schema of its input.","type":"object"},"strict":{"description":"Hold the model to the schema.","type":["boolean","null"]},"cache_control":{"description":"Marks the end of a prefix to cache.","$ref":"#/definitions/cacheControl"}},"if":{"properties":{"type":{"enum":["custom",null]}}},"then":{"required":["name","input_schema"]}},"toolChoice":{"title":"MessagesToolChoice","description":"Which tool to call.","type":["object","null"],"additionalProperties":true,"required":["type"],"properties":{"type":{"description":"auto, any, tool, none.","type":"string","minLength":1},"name":{"description":"The tool.","type":"string","minLength":1},"disable_parallel_tool_use":{"description":"One call at most.","type":["boolean","null"]}},"if":{"properties":{"type":{"const":"tool"}},"required":["type"]},"then":{"required":["name"]}},"cacheControl":{"title":"MessagesCacheControl","description":"Marks the end of a prefix to cache.","type":["object","null"],"additionalProperties":true,"required":["type"],"properties":{"type":{"description":"ephemeral.","type":"string"},"ttl":{"description":"How long: 5m or 1h.","type":["string","null"]}}}}};
const schema25 = {"title":"MessagesToolChoice","description":"Which tool to call.","type":["object","null"],"additionalProperties":true,"required":["type"],"properties":{"type":{"description":"auto, any, tool, none.","type":"string","minLength":1},"name":{"description":"The tool.","type":"string","minLength":1},"disable_parallel_tool_use":{"description":"One call at most.","type":["boolean","null"]}},"if":{"properties":{"type":{"const":"tool"}},"required":["type"]},"then":{"required":["name"]}};
const schema16 = {"title":"MessagesTurn","type":"object","additionalProperties":true,"required":["role","content"],"properties":{"role":{"description":"Who speaks.","enum":["user","assistant","system"]},"content":{"description":"Text, or blocks.","type":["string","array"],"items":{"$ref":"#/definitions/block"}}}};
const schema17 = {"title":"MessagesBlock","description":"A content block. Unknown types are allowed: they travel to upstreams of the same format.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"Kind of the block.","type":"string","minLength":1},"cache_control":{"description":"Marks the end of a prefix to cache.","$ref":"#/definitions/cacheControl"}},"allOf":[{"if":{"required":["type"],"properties":{"type":{"enum":["text"]}}},"then":{"required":["text"],"properties":{"text":{"description":"The text.","type":"string"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["image","document"]}}},"then":{"required":["source"],"properties":{"source":{"description":"Where the image or document is.","$ref":"#/definitions/source"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["tool_use"]}}},"then":{"required":["id","name","input"],"properties":{"id":{"description":"Names the call.","type":"string","minLength":1},"name":{"description":"Name of the tool.","type":"string","minLength":1},"input":{"description":"Its arguments.","type":"object"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["tool_result"]}}},"then":{"required":["tool_use_id"],"properties":{"tool_use_id":{"description":"The call it answers.","type":"string","minLength":1},"content":{"description":"Text, or blocks.","type":["string","array","null"],"items":{"$ref":"#/definitions/resultBlock"}},"is_error":{"description":"Whether the tool failed.","type":["boolean","null"]}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["thinking"]}}},"then":{"required":["thinking"],"properties":{"thinking":{"description":"The thought.","type":"string"},"signature":{"description":"What its provider signed it with.","type":["string","null"]}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["redacted_thinking"]}}},"then":{"required":["data"],"properties":{"data":{"description":"The encrypted thought.","type":"string"}}}}]};
const schema18 = {"title":"MessagesSource","description":"Where the content of an image or document is.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"base64, url, text, content, file.","type":"string","minLength":1}},"allOf":[{"if":{"required":["type"],"properties":{"type":{"enum":["base64","text"]}}},"then":{"required":["media_type","data"],"properties":{"media_type":{"description":"Media type.","type":"string","minLength":1},"data":{"description":"Base64, or the text.","type":"string"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["url"]}}},"then":{"required":["url"],"properties":{"url":{"description":"Its address.","type":"string","minLength":1}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["file"]}}},"then":{"required":["file_id"],"properties":{"file_id":{"description":"A file kept by the provider.","type":"string","minLength":1}}}}]};
const schema21 = {"title":"MessagesCacheControl","description":"Marks the end of a prefix to cache.","type":["object","null"],"additionalProperties":true,"required":["type"],"properties":{"type":{"description":"ephemeral.","type":"string"},"ttl":{"description":"How long: 5m or 1h.","type":["string","null"]}}};
const schema19 = {"title":"MessagesResultBlock","description":"A block of a tool's result. Unknown types are allowed.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"Kind of the block.","type":"string","minLength":1},"cache_control":{"description":"Marks the end of a prefix to cache.","$ref":"#/definitions/cacheControl"}},"allOf":[{"if":{"required":["type"],"properties":{"type":{"enum":["text"]}}},"then":{"required":["text"],"properties":{"text":{"description":"The text.","type":"string"}}}},{"if":{"required":["type"],"properties":{"type":{"enum":["image","document"]}}},"then":{"required":["source"],"properties":{"source":{"description":"Where the image or document is.","$ref":"#/definitions/source"}}}}]};

function validate16(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs1 = errors;
const _errs2 = errors;
let valid1 = true;
const _errs3 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.type === undefined) && (missing0 = "type")){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data.type !== undefined){
if(!(data.type === "text")){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
}
var _valid0 = _errs3 === errors;
errors = _errs2;
if(vErrors !== null){
if(_errs2){
vErrors.length = _errs2;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs5 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing1;
if((data.text === undefined) && (missing1 = "text")){
validate16.errors = [{instancePath,schemaPath:"#/allOf/0/then/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema19.allOf[0].then.required,parentSchema:schema19.allOf[0].then,data}];
return false;
}
else {
if(data.text !== undefined){
let data1 = data.text;
if(typeof data1 !== "string"){
validate16.errors = [{instancePath:instancePath+"/text",schemaPath:"#/allOf/0/then/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema19.allOf[0].then.properties.text.type,parentSchema:schema19.allOf[0].then.properties.text,data:data1}];
return false;
}
}
}
}
var _valid0 = _errs5 === errors;
valid1 = _valid0;
}
if(!valid1){
const err2 = {instancePath,schemaPath:"#/allOf/0/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema19.allOf[0].if,parentSchema:schema19.allOf[0],data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
validate16.errors = vErrors;
return false;
}
var valid0 = _errs1 === errors;
if(valid0){
const _errs8 = errors;
const _errs9 = errors;
let valid4 = true;
const _errs10 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing2;
if((data.type === undefined) && (missing2 = "type")){
const err3 = {};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
else {
if(data.type !== undefined){
let data2 = data.type;
if(!((data2 === "image") || (data2 === "document"))){
const err4 = {};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
}
var _valid1 = _errs10 === errors;
errors = _errs9;
if(vErrors !== null){
if(_errs9){
vErrors.length = _errs9;
}
else {
vErrors = null;
}
}
if(_valid1){
const _errs12 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing3;
if((data.source === undefined) && (missing3 = "source")){
validate16.errors = [{instancePath,schemaPath:"#/allOf/1/then/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'",schema:schema19.allOf[1].then.required,parentSchema:schema19.allOf[1].then,data}];
return false;
}
else {
if(data.source !== undefined){
let data3 = data.source;
const _errs14 = errors;
const _errs16 = errors;
const _errs17 = errors;
let valid9 = true;
const _errs18 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing4;
if((data3.type === undefined) && (missing4 = "type")){
const err5 = {};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
else {
if(data3.type !== undefined){
let data4 = data3.type;
if(!((data4 === "base64") || (data4 === "text"))){
const err6 = {};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
}
var _valid2 = _errs18 === errors;
errors = _errs17;
if(vErrors !== null){
if(_errs17){
vErrors.length = _errs17;
}
else {
vErrors = null;
}
}
if(_valid2){
const _errs20 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing5;
if(((data3.media_type === undefined) && (missing5 = "media_type")) || ((data3.data === undefined) && (missing5 = "data"))){
validate16.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/0/then/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'",schema:schema18.allOf[0].then.required,parentSchema:schema18.allOf[0].then,data:data3}];
return false;
}
else {
if(data3.media_type !== undefined){
let data5 = data3.media_type;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data5 === "string"){
if(!func2(data5, 0)){
validate16.errors = [{instancePath:instancePath+"/source/media_type",schemaPath:"#/definitions/source/allOf/0/then/properties/media_type/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.allOf[0].then.properties.media_type,data:data5}];
return false;
}
}
else {
validate16.errors = [{instancePath:instancePath+"/source/media_type",schemaPath:"#/definitions/source/allOf/0/then/properties/media_type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.allOf[0].then.properties.media_type.type,parentSchema:schema18.allOf[0].then.properties.media_type,data:data5}];
return false;
}
}
var valid11 = _errs21 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data3.data !== undefined){
let data6 = data3.data;
const _errs23 = errors;
if(typeof data6 !== "string"){
validate16.errors = [{instancePath:instancePath+"/source/data",schemaPath:"#/definitions/source/allOf/0/then/properties/data/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.allOf[0].then.properties.data.type,parentSchema:schema18.allOf[0].then.properties.data,data:data6}];
return false;
}
var valid11 = _errs23 === errors;
}
else {
var valid11 = true;
}
}
}
}
var _valid2 = _errs20 === errors;
valid9 = _valid2;
}
if(!valid9){
const err7 = {instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/0/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema18.allOf[0].if,parentSchema:schema18.allOf[0],data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
validate16.errors = vErrors;
return false;
}
var valid8 = _errs16 === errors;
if(valid8){
const _errs25 = errors;
const _errs26 = errors;
let valid12 = true;
const _errs27 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing6;
if((data3.type === undefined) && (missing6 = "type")){
const err8 = {};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
else {
if(data3.type !== undefined){
if(!(data3.type === "url")){
const err9 = {};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
}
var _valid3 = _errs27 === errors;
errors = _errs26;
if(vErrors !== null){
if(_errs26){
vErrors.length = _errs26;
}
else {
vErrors = null;
}
}
if(_valid3){
const _errs29 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing7;
if((data3.url === undefined) && (missing7 = "url")){
validate16.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/1/then/required",keyword:"required",params:{missingProperty: missing7},message:"must have required property '"+missing7+"'",schema:schema18.allOf[1].then.required,parentSchema:schema18.allOf[1].then,data:data3}];
return false;
}
else {
if(data3.url !== undefined){
let data8 = data3.url;
const _errs30 = errors;
if(errors === _errs30){
if(typeof data8 === "string"){
if(!func2(data8, 0)){
validate16.errors = [{instancePath:instancePath+"/source/url",schemaPath:"#/definitions/source/allOf/1/then/properties/url/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.allOf[1].then.properties.url,data:data8}];
return false;
}
}
else {
validate16.errors = [{instancePath:instancePath+"/source/url",schemaPath:"#/definitions/source/allOf/1/then/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.allOf[1].then.properties.url.type,parentSchema:schema18.allOf[1].then.properties.url,data:data8}];
return false;
}
}
}
}
}
var _valid3 = _errs29 === errors;
valid12 = _valid3;
}
if(!valid12){
const err10 = {instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/1/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema18.allOf[1].if,parentSchema:schema18.allOf[1],data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
validate16.errors = vErrors;
return false;
}
var valid8 = _errs25 === errors;
if(valid8){
const _errs32 = errors;
const _errs33 = errors;
let valid15 = true;
const _errs34 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing8;
if((data3.type === undefined) && (missing8 = "type")){
const err11 = {};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
else {
if(data3.type !== undefined){
if(!(data3.type === "file")){
const err12 = {};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
}
var _valid4 = _errs34 === errors;
errors = _errs33;
if(vErrors !== null){
if(_errs33){
vErrors.length = _errs33;
}
else {
vErrors = null;
}
}
if(_valid4){
const _errs36 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing9;
if((data3.file_id === undefined) && (missing9 = "file_id")){
validate16.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/2/then/required",keyword:"required",params:{missingProperty: missing9},message:"must have required property '"+missing9+"'",schema:schema18.allOf[2].then.required,parentSchema:schema18.allOf[2].then,data:data3}];
return false;
}
else {
if(data3.file_id !== undefined){
let data10 = data3.file_id;
const _errs37 = errors;
if(errors === _errs37){
if(typeof data10 === "string"){
if(!func2(data10, 0)){
validate16.errors = [{instancePath:instancePath+"/source/file_id",schemaPath:"#/definitions/source/allOf/2/then/properties/file_id/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.allOf[2].then.properties.file_id,data:data10}];
return false;
}
}
else {
validate16.errors = [{instancePath:instancePath+"/source/file_id",schemaPath:"#/definitions/source/allOf/2/then/properties/file_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.allOf[2].then.properties.file_id.type,parentSchema:schema18.allOf[2].then.properties.file_id,data:data10}];
return false;
}
}
}
}
}
var _valid4 = _errs36 === errors;
valid15 = _valid4;
}
if(!valid15){
const err13 = {instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/2/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema18.allOf[2].if,parentSchema:schema18.allOf[2],data:data3};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
validate16.errors = vErrors;
return false;
}
var valid8 = _errs32 === errors;
}
}
if(errors === _errs14){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing10;
if((data3.type === undefined) && (missing10 = "type")){
validate16.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/required",keyword:"required",params:{missingProperty: missing10},message:"must have required property '"+missing10+"'",schema:schema18.required,parentSchema:schema18,data:data3}];
return false;
}
else {
if(data3.type !== undefined){
let data11 = data3.type;
const _errs40 = errors;
if(errors === _errs40){
if(typeof data11 === "string"){
if(!func2(data11, 0)){
validate16.errors = [{instancePath:instancePath+"/source/type",schemaPath:"#/definitions/source/properties/type/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.properties.type,data:data11}];
return false;
}
}
else {
validate16.errors = [{instancePath:instancePath+"/source/type",schemaPath:"#/definitions/source/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.type.type,parentSchema:schema18.properties.type,data:data11}];
return false;
}
}
}
}
}
else {
validate16.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema18.type,parentSchema:schema18,data:data3}];
return false;
}
}
}
}
}
var _valid1 = _errs12 === errors;
valid4 = _valid1;
}
if(!valid4){
const err14 = {instancePath,schemaPath:"#/allOf/1/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema19.allOf[1].if,parentSchema:schema19.allOf[1],data};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
validate16.errors = vErrors;
return false;
}
var valid0 = _errs8 === errors;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing11;
if((data.type === undefined) && (missing11 = "type")){
validate16.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing11},message:"must have required property '"+missing11+"'",schema:schema19.required,parentSchema:schema19,data}];
return false;
}
else {
if(data.type !== undefined){
let data12 = data.type;
const _errs43 = errors;
if(errors === _errs43){
if(typeof data12 === "string"){
if(!func2(data12, 0)){
validate16.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema19.properties.type,data:data12}];
return false;
}
}
else {
validate16.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema19.properties.type.type,parentSchema:schema19.properties.type,data:data12}];
return false;
}
}
var valid19 = _errs43 === errors;
}
else {
var valid19 = true;
}
if(valid19){
if(data.cache_control !== undefined){
let data13 = data.cache_control;
const _errs45 = errors;
const _errs46 = errors;
if((!(data13 && typeof data13 == "object" && !Array.isArray(data13))) && (data13 !== null)){
validate16.errors = [{instancePath:instancePath+"/cache_control",schemaPath:"#/definitions/cacheControl/type",keyword:"type",params:{type: schema21.type},message:"must be object,null",schema:schema21.type,parentSchema:schema21,data:data13}];
return false;
}
if(errors === _errs46){
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
let missing12;
if((data13.type === undefined) && (missing12 = "type")){
validate16.errors = [{instancePath:instancePath+"/cache_control",schemaPath:"#/definitions/cacheControl/required",keyword:"required",params:{missingProperty: missing12},message:"must have required property '"+missing12+"'",schema:schema21.required,parentSchema:schema21,data:data13}];
return false;
}
else {
if(data13.type !== undefined){
let data14 = data13.type;
const _errs49 = errors;
if(typeof data14 !== "string"){
validate16.errors = [{instancePath:instancePath+"/cache_control/type",schemaPath:"#/definitions/cacheControl/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema21.properties.type.type,parentSchema:schema21.properties.type,data:data14}];
return false;
}
var valid21 = _errs49 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data13.ttl !== undefined){
let data15 = data13.ttl;
const _errs51 = errors;
if((typeof data15 !== "string") && (data15 !== null)){
validate16.errors = [{instancePath:instancePath+"/cache_control/ttl",schemaPath:"#/definitions/cacheControl/properties/ttl/type",keyword:"type",params:{type: schema21.properties.ttl.type},message:"must be string,null",schema:schema21.properties.ttl.type,parentSchema:schema21.properties.ttl,data:data15}];
return false;
}
var valid21 = _errs51 === errors;
}
else {
var valid21 = true;
}
}
}
}
}
var valid19 = _errs45 === errors;
}
else {
var valid19 = true;
}
}
}
}
else {
validate16.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.type,parentSchema:schema19,data}];
return false;
}
}
validate16.errors = vErrors;
return errors === 0;
}


function validate15(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs1 = errors;
const _errs2 = errors;
let valid1 = true;
const _errs3 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.type === undefined) && (missing0 = "type")){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data.type !== undefined){
if(!(data.type === "text")){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
}
var _valid0 = _errs3 === errors;
errors = _errs2;
if(vErrors !== null){
if(_errs2){
vErrors.length = _errs2;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs5 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing1;
if((data.text === undefined) && (missing1 = "text")){
validate15.errors = [{instancePath,schemaPath:"#/allOf/0/then/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema17.allOf[0].then.required,parentSchema:schema17.allOf[0].then,data}];
return false;
}
else {
if(data.text !== undefined){
let data1 = data.text;
if(typeof data1 !== "string"){
validate15.errors = [{instancePath:instancePath+"/text",schemaPath:"#/allOf/0/then/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.allOf[0].then.properties.text.type,parentSchema:schema17.allOf[0].then.properties.text,data:data1}];
return false;
}
}
}
}
var _valid0 = _errs5 === errors;
valid1 = _valid0;
}
if(!valid1){
const err2 = {instancePath,schemaPath:"#/allOf/0/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema17.allOf[0].if,parentSchema:schema17.allOf[0],data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid0 = _errs1 === errors;
if(valid0){
const _errs8 = errors;
const _errs9 = errors;
let valid4 = true;
const _errs10 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing2;
if((data.type === undefined) && (missing2 = "type")){
const err3 = {};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
else {
if(data.type !== undefined){
let data2 = data.type;
if(!((data2 === "image") || (data2 === "document"))){
const err4 = {};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
}
var _valid1 = _errs10 === errors;
errors = _errs9;
if(vErrors !== null){
if(_errs9){
vErrors.length = _errs9;
}
else {
vErrors = null;
}
}
if(_valid1){
const _errs12 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing3;
if((data.source === undefined) && (missing3 = "source")){
validate15.errors = [{instancePath,schemaPath:"#/allOf/1/then/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'",schema:schema17.allOf[1].then.required,parentSchema:schema17.allOf[1].then,data}];
return false;
}
else {
if(data.source !== undefined){
let data3 = data.source;
const _errs14 = errors;
const _errs16 = errors;
const _errs17 = errors;
let valid9 = true;
const _errs18 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing4;
if((data3.type === undefined) && (missing4 = "type")){
const err5 = {};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
else {
if(data3.type !== undefined){
let data4 = data3.type;
if(!((data4 === "base64") || (data4 === "text"))){
const err6 = {};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
}
var _valid2 = _errs18 === errors;
errors = _errs17;
if(vErrors !== null){
if(_errs17){
vErrors.length = _errs17;
}
else {
vErrors = null;
}
}
if(_valid2){
const _errs20 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing5;
if(((data3.media_type === undefined) && (missing5 = "media_type")) || ((data3.data === undefined) && (missing5 = "data"))){
validate15.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/0/then/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'",schema:schema18.allOf[0].then.required,parentSchema:schema18.allOf[0].then,data:data3}];
return false;
}
else {
if(data3.media_type !== undefined){
let data5 = data3.media_type;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data5 === "string"){
if(!func2(data5, 0)){
validate15.errors = [{instancePath:instancePath+"/source/media_type",schemaPath:"#/definitions/source/allOf/0/then/properties/media_type/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.allOf[0].then.properties.media_type,data:data5}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/source/media_type",schemaPath:"#/definitions/source/allOf/0/then/properties/media_type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.allOf[0].then.properties.media_type.type,parentSchema:schema18.allOf[0].then.properties.media_type,data:data5}];
return false;
}
}
var valid11 = _errs21 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data3.data !== undefined){
let data6 = data3.data;
const _errs23 = errors;
if(typeof data6 !== "string"){
validate15.errors = [{instancePath:instancePath+"/source/data",schemaPath:"#/definitions/source/allOf/0/then/properties/data/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.allOf[0].then.properties.data.type,parentSchema:schema18.allOf[0].then.properties.data,data:data6}];
return false;
}
var valid11 = _errs23 === errors;
}
else {
var valid11 = true;
}
}
}
}
var _valid2 = _errs20 === errors;
valid9 = _valid2;
}
if(!valid9){
const err7 = {instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/0/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema18.allOf[0].if,parentSchema:schema18.allOf[0],data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid8 = _errs16 === errors;
if(valid8){
const _errs25 = errors;
const _errs26 = errors;
let valid12 = true;
const _errs27 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing6;
if((data3.type === undefined) && (missing6 = "type")){
const err8 = {};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
else {
if(data3.type !== undefined){
if(!(data3.type === "url")){
const err9 = {};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
}
var _valid3 = _errs27 === errors;
errors = _errs26;
if(vErrors !== null){
if(_errs26){
vErrors.length = _errs26;
}
else {
vErrors = null;
}
}
if(_valid3){
const _errs29 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing7;
if((data3.url === undefined) && (missing7 = "url")){
validate15.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/1/then/required",keyword:"required",params:{missingProperty: missing7},message:"must have required property '"+missing7+"'",schema:schema18.allOf[1].then.required,parentSchema:schema18.allOf[1].then,data:data3}];
return false;
}
else {
if(data3.url !== undefined){
let data8 = data3.url;
const _errs30 = errors;
if(errors === _errs30){
if(typeof data8 === "string"){
if(!func2(data8, 0)){
validate15.errors = [{instancePath:instancePath+"/source/url",schemaPath:"#/definitions/source/allOf/1/then/properties/url/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.allOf[1].then.properties.url,data:data8}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/source/url",schemaPath:"#/definitions/source/allOf/1/then/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.allOf[1].then.properties.url.type,parentSchema:schema18.allOf[1].then.properties.url,data:data8}];
return false;
}
}
}
}
}
var _valid3 = _errs29 === errors;
valid12 = _valid3;
}
if(!valid12){
const err10 = {instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/1/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema18.allOf[1].if,parentSchema:schema18.allOf[1],data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid8 = _errs25 === errors;
if(valid8){
const _errs32 = errors;
const _errs33 = errors;
let valid15 = true;
const _errs34 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing8;
if((data3.type === undefined) && (missing8 = "type")){
const err11 = {};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
else {
if(data3.type !== undefined){
if(!(data3.type === "file")){
const err12 = {};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
}
var _valid4 = _errs34 === errors;
errors = _errs33;
if(vErrors !== null){
if(_errs33){
vErrors.length = _errs33;
}
else {
vErrors = null;
}
}
if(_valid4){
const _errs36 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing9;
if((data3.file_id === undefined) && (missing9 = "file_id")){
validate15.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/2/then/required",keyword:"required",params:{missingProperty: missing9},message:"must have required property '"+missing9+"'",schema:schema18.allOf[2].then.required,parentSchema:schema18.allOf[2].then,data:data3}];
return false;
}
else {
if(data3.file_id !== undefined){
let data10 = data3.file_id;
const _errs37 = errors;
if(errors === _errs37){
if(typeof data10 === "string"){
if(!func2(data10, 0)){
validate15.errors = [{instancePath:instancePath+"/source/file_id",schemaPath:"#/definitions/source/allOf/2/then/properties/file_id/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.allOf[2].then.properties.file_id,data:data10}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/source/file_id",schemaPath:"#/definitions/source/allOf/2/then/properties/file_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.allOf[2].then.properties.file_id.type,parentSchema:schema18.allOf[2].then.properties.file_id,data:data10}];
return false;
}
}
}
}
}
var _valid4 = _errs36 === errors;
valid15 = _valid4;
}
if(!valid15){
const err13 = {instancePath:instancePath+"/source",schemaPath:"#/definitions/source/allOf/2/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema18.allOf[2].if,parentSchema:schema18.allOf[2],data:data3};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid8 = _errs32 === errors;
}
}
if(errors === _errs14){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing10;
if((data3.type === undefined) && (missing10 = "type")){
validate15.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/required",keyword:"required",params:{missingProperty: missing10},message:"must have required property '"+missing10+"'",schema:schema18.required,parentSchema:schema18,data:data3}];
return false;
}
else {
if(data3.type !== undefined){
let data11 = data3.type;
const _errs40 = errors;
if(errors === _errs40){
if(typeof data11 === "string"){
if(!func2(data11, 0)){
validate15.errors = [{instancePath:instancePath+"/source/type",schemaPath:"#/definitions/source/properties/type/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.properties.type,data:data11}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/source/type",schemaPath:"#/definitions/source/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.type.type,parentSchema:schema18.properties.type,data:data11}];
return false;
}
}
}
}
}
else {
validate15.errors = [{instancePath:instancePath+"/source",schemaPath:"#/definitions/source/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema18.type,parentSchema:schema18,data:data3}];
return false;
}
}
}
}
}
var _valid1 = _errs12 === errors;
valid4 = _valid1;
}
if(!valid4){
const err14 = {instancePath,schemaPath:"#/allOf/1/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema17.allOf[1].if,parentSchema:schema17.allOf[1],data};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid0 = _errs8 === errors;
if(valid0){
const _errs42 = errors;
const _errs43 = errors;
let valid19 = true;
const _errs44 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing11;
if((data.type === undefined) && (missing11 = "type")){
const err15 = {};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
else {
if(data.type !== undefined){
if(!(data.type === "tool_use")){
const err16 = {};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
}
var _valid5 = _errs44 === errors;
errors = _errs43;
if(vErrors !== null){
if(_errs43){
vErrors.length = _errs43;
}
else {
vErrors = null;
}
}
if(_valid5){
const _errs46 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing12;
if((((data.id === undefined) && (missing12 = "id")) || ((data.name === undefined) && (missing12 = "name"))) || ((data.input === undefined) && (missing12 = "input"))){
validate15.errors = [{instancePath,schemaPath:"#/allOf/2/then/required",keyword:"required",params:{missingProperty: missing12},message:"must have required property '"+missing12+"'",schema:schema17.allOf[2].then.required,parentSchema:schema17.allOf[2].then,data}];
return false;
}
else {
if(data.id !== undefined){
let data13 = data.id;
const _errs47 = errors;
if(errors === _errs47){
if(typeof data13 === "string"){
if(!func2(data13, 0)){
validate15.errors = [{instancePath:instancePath+"/id",schemaPath:"#/allOf/2/then/properties/id/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.allOf[2].then.properties.id,data:data13}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/id",schemaPath:"#/allOf/2/then/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.allOf[2].then.properties.id.type,parentSchema:schema17.allOf[2].then.properties.id,data:data13}];
return false;
}
}
var valid21 = _errs47 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data.name !== undefined){
let data14 = data.name;
const _errs49 = errors;
if(errors === _errs49){
if(typeof data14 === "string"){
if(!func2(data14, 0)){
validate15.errors = [{instancePath:instancePath+"/name",schemaPath:"#/allOf/2/then/properties/name/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.allOf[2].then.properties.name,data:data14}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/name",schemaPath:"#/allOf/2/then/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.allOf[2].then.properties.name.type,parentSchema:schema17.allOf[2].then.properties.name,data:data14}];
return false;
}
}
var valid21 = _errs49 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data.input !== undefined){
let data15 = data.input;
const _errs51 = errors;
if(!(data15 && typeof data15 == "object" && !Array.isArray(data15))){
validate15.errors = [{instancePath:instancePath+"/input",schemaPath:"#/allOf/2/then/properties/input/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema17.allOf[2].then.properties.input.type,parentSchema:schema17.allOf[2].then.properties.input,data:data15}];
return false;
}
var valid21 = _errs51 === errors;
}
else {
var valid21 = true;
}
}
}
}
}
var _valid5 = _errs46 === errors;
valid19 = _valid5;
}
if(!valid19){
const err17 = {instancePath,schemaPath:"#/allOf/2/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema17.allOf[2].if,parentSchema:schema17.allOf[2],data};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid0 = _errs42 === errors;
if(valid0){
const _errs53 = errors;
const _errs54 = errors;
let valid22 = true;
const _errs55 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing13;
if((data.type === undefined) && (missing13 = "type")){
const err18 = {};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
else {
if(data.type !== undefined){
if(!(data.type === "tool_result")){
const err19 = {};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
}
var _valid6 = _errs55 === errors;
errors = _errs54;
if(vErrors !== null){
if(_errs54){
vErrors.length = _errs54;
}
else {
vErrors = null;
}
}
if(_valid6){
const _errs57 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing14;
if((data.tool_use_id === undefined) && (missing14 = "tool_use_id")){
validate15.errors = [{instancePath,schemaPath:"#/allOf/3/then/required",keyword:"required",params:{missingProperty: missing14},message:"must have required property '"+missing14+"'",schema:schema17.allOf[3].then.required,parentSchema:schema17.allOf[3].then,data}];
return false;
}
else {
if(data.tool_use_id !== undefined){
let data17 = data.tool_use_id;
const _errs58 = errors;
if(errors === _errs58){
if(typeof data17 === "string"){
if(!func2(data17, 0)){
validate15.errors = [{instancePath:instancePath+"/tool_use_id",schemaPath:"#/allOf/3/then/properties/tool_use_id/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.allOf[3].then.properties.tool_use_id,data:data17}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/tool_use_id",schemaPath:"#/allOf/3/then/properties/tool_use_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.allOf[3].then.properties.tool_use_id.type,parentSchema:schema17.allOf[3].then.properties.tool_use_id,data:data17}];
return false;
}
}
var valid24 = _errs58 === errors;
}
else {
var valid24 = true;
}
if(valid24){
if(data.content !== undefined){
let data18 = data.content;
const _errs60 = errors;
if(((typeof data18 !== "string") && (!(Array.isArray(data18)))) && (data18 !== null)){
validate15.errors = [{instancePath:instancePath+"/content",schemaPath:"#/allOf/3/then/properties/content/type",keyword:"type",params:{type: schema17.allOf[3].then.properties.content.type},message:"must be string,array,null",schema:schema17.allOf[3].then.properties.content.type,parentSchema:schema17.allOf[3].then.properties.content,data:data18}];
return false;
}
if(errors === _errs60){
if(Array.isArray(data18)){
var valid25 = true;
const len0 = data18.length;
for(let i0=0; i0<len0; i0++){
const _errs62 = errors;
if(!(validate16(data18[i0], {instancePath:instancePath+"/content/" + i0,parentData:data18,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate16.errors : vErrors.concat(validate16.errors);
errors = vErrors.length;
}
var valid25 = _errs62 === errors;
if(!valid25){
break;
}
}
}
}
var valid24 = _errs60 === errors;
}
else {
var valid24 = true;
}
if(valid24){
if(data.is_error !== undefined){
let data20 = data.is_error;
const _errs63 = errors;
if((typeof data20 !== "boolean") && (data20 !== null)){
validate15.errors = [{instancePath:instancePath+"/is_error",schemaPath:"#/allOf/3/then/properties/is_error/type",keyword:"type",params:{type: schema17.allOf[3].then.properties.is_error.type},message:"must be boolean,null",schema:schema17.allOf[3].then.properties.is_error.type,parentSchema:schema17.allOf[3].then.properties.is_error,data:data20}];
return false;
}
var valid24 = _errs63 === errors;
}
else {
var valid24 = true;
}
}
}
}
}
var _valid6 = _errs57 === errors;
valid22 = _valid6;
}
if(!valid22){
const err20 = {instancePath,schemaPath:"#/allOf/3/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema17.allOf[3].if,parentSchema:schema17.allOf[3],data};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid0 = _errs53 === errors;
if(valid0){
const _errs65 = errors;
const _errs66 = errors;
let valid26 = true;
const _errs67 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing15;
if((data.type === undefined) && (missing15 = "type")){
const err21 = {};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
else {
if(data.type !== undefined){
if(!(data.type === "thinking")){
const err22 = {};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
}
var _valid7 = _errs67 === errors;
errors = _errs66;
if(vErrors !== null){
if(_errs66){
vErrors.length = _errs66;
}
else {
vErrors = null;
}
}
if(_valid7){
const _errs69 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing16;
if((data.thinking === undefined) && (missing16 = "thinking")){
validate15.errors = [{instancePath,schemaPath:"#/allOf/4/then/required",keyword:"required",params:{missingProperty: missing16},message:"must have required property '"+missing16+"'",schema:schema17.allOf[4].then.required,parentSchema:schema17.allOf[4].then,data}];
return false;
}
else {
if(data.thinking !== undefined){
let data22 = data.thinking;
const _errs70 = errors;
if(typeof data22 !== "string"){
validate15.errors = [{instancePath:instancePath+"/thinking",schemaPath:"#/allOf/4/then/properties/thinking/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.allOf[4].then.properties.thinking.type,parentSchema:schema17.allOf[4].then.properties.thinking,data:data22}];
return false;
}
var valid28 = _errs70 === errors;
}
else {
var valid28 = true;
}
if(valid28){
if(data.signature !== undefined){
let data23 = data.signature;
const _errs72 = errors;
if((typeof data23 !== "string") && (data23 !== null)){
validate15.errors = [{instancePath:instancePath+"/signature",schemaPath:"#/allOf/4/then/properties/signature/type",keyword:"type",params:{type: schema17.allOf[4].then.properties.signature.type},message:"must be string,null",schema:schema17.allOf[4].then.properties.signature.type,parentSchema:schema17.allOf[4].then.properties.signature,data:data23}];
return false;
}
var valid28 = _errs72 === errors;
}
else {
var valid28 = true;
}
}
}
}
var _valid7 = _errs69 === errors;
valid26 = _valid7;
}
if(!valid26){
const err23 = {instancePath,schemaPath:"#/allOf/4/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema17.allOf[4].if,parentSchema:schema17.allOf[4],data};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid0 = _errs65 === errors;
if(valid0){
const _errs74 = errors;
const _errs75 = errors;
let valid29 = true;
const _errs76 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing17;
if((data.type === undefined) && (missing17 = "type")){
const err24 = {};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
else {
if(data.type !== undefined){
if(!(data.type === "redacted_thinking")){
const err25 = {};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
}
var _valid8 = _errs76 === errors;
errors = _errs75;
if(vErrors !== null){
if(_errs75){
vErrors.length = _errs75;
}
else {
vErrors = null;
}
}
if(_valid8){
const _errs78 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing18;
if((data.data === undefined) && (missing18 = "data")){
validate15.errors = [{instancePath,schemaPath:"#/allOf/5/then/required",keyword:"required",params:{missingProperty: missing18},message:"must have required property '"+missing18+"'",schema:schema17.allOf[5].then.required,parentSchema:schema17.allOf[5].then,data}];
return false;
}
else {
if(data.data !== undefined){
let data25 = data.data;
if(typeof data25 !== "string"){
validate15.errors = [{instancePath:instancePath+"/data",schemaPath:"#/allOf/5/then/properties/data/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.allOf[5].then.properties.data.type,parentSchema:schema17.allOf[5].then.properties.data,data:data25}];
return false;
}
}
}
}
var _valid8 = _errs78 === errors;
valid29 = _valid8;
}
if(!valid29){
const err26 = {instancePath,schemaPath:"#/allOf/5/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema17.allOf[5].if,parentSchema:schema17.allOf[5],data};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
validate15.errors = vErrors;
return false;
}
var valid0 = _errs74 === errors;
}
}
}
}
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing19;
if((data.type === undefined) && (missing19 = "type")){
validate15.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing19},message:"must have required property '"+missing19+"'",schema:schema17.required,parentSchema:schema17,data}];
return false;
}
else {
if(data.type !== undefined){
let data26 = data.type;
const _errs82 = errors;
if(errors === _errs82){
if(typeof data26 === "string"){
if(!func2(data26, 0)){
validate15.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.properties.type,data:data26}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.type.type,parentSchema:schema17.properties.type,data:data26}];
return false;
}
}
var valid32 = _errs82 === errors;
}
else {
var valid32 = true;
}
if(valid32){
if(data.cache_control !== undefined){
let data27 = data.cache_control;
const _errs84 = errors;
const _errs85 = errors;
if((!(data27 && typeof data27 == "object" && !Array.isArray(data27))) && (data27 !== null)){
validate15.errors = [{instancePath:instancePath+"/cache_control",schemaPath:"#/definitions/cacheControl/type",keyword:"type",params:{type: schema21.type},message:"must be object,null",schema:schema21.type,parentSchema:schema21,data:data27}];
return false;
}
if(errors === _errs85){
if(data27 && typeof data27 == "object" && !Array.isArray(data27)){
let missing20;
if((data27.type === undefined) && (missing20 = "type")){
validate15.errors = [{instancePath:instancePath+"/cache_control",schemaPath:"#/definitions/cacheControl/required",keyword:"required",params:{missingProperty: missing20},message:"must have required property '"+missing20+"'",schema:schema21.required,parentSchema:schema21,data:data27}];
return false;
}
else {
if(data27.type !== undefined){
let data28 = data27.type;
const _errs88 = errors;
if(typeof data28 !== "string"){
validate15.errors = [{instancePath:instancePath+"/cache_control/type",schemaPath:"#/definitions/cacheControl/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema21.properties.type.type,parentSchema:schema21.properties.type,data:data28}];
return false;
}
var valid34 = _errs88 === errors;
}
else {
var valid34 = true;
}
if(valid34){
if(data27.ttl !== undefined){
let data29 = data27.ttl;
const _errs90 = errors;
if((typeof data29 !== "string") && (data29 !== null)){
validate15.errors = [{instancePath:instancePath+"/cache_control/ttl",schemaPath:"#/definitions/cacheControl/properties/ttl/type",keyword:"type",params:{type: schema21.properties.ttl.type},message:"must be string,null",schema:schema21.properties.ttl.type,parentSchema:schema21.properties.ttl,data:data29}];
return false;
}
var valid34 = _errs90 === errors;
}
else {
var valid34 = true;
}
}
}
}
}
var valid32 = _errs84 === errors;
}
else {
var valid32 = true;
}
}
}
}
else {
validate15.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema17.type,parentSchema:schema17,data}];
return false;
}
}
validate15.errors = vErrors;
return errors === 0;
}


function validate14(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.role === undefined) && (missing0 = "role")) || ((data.content === undefined) && (missing0 = "content"))){
validate14.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema16.required,parentSchema:schema16,data}];
return false;
}
else {
if(data.role !== undefined){
let data0 = data.role;
const _errs2 = errors;
if(!(((data0 === "user") || (data0 === "assistant")) || (data0 === "system"))){
validate14.errors = [{instancePath:instancePath+"/role",schemaPath:"#/properties/role/enum",keyword:"enum",params:{allowedValues: schema16.properties.role.enum},message:"must be equal to one of the allowed values",schema:schema16.properties.role.enum,parentSchema:schema16.properties.role,data:data0}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.content !== undefined){
let data1 = data.content;
const _errs3 = errors;
if((typeof data1 !== "string") && (!(Array.isArray(data1)))){
validate14.errors = [{instancePath:instancePath+"/content",schemaPath:"#/properties/content/type",keyword:"type",params:{type: schema16.properties.content.type},message:"must be string,array",schema:schema16.properties.content.type,parentSchema:schema16.properties.content,data:data1}];
return false;
}
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs5 = errors;
if(!(validate15(data1[i0], {instancePath:instancePath+"/content/" + i0,parentData:data1,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate15.errors : vErrors.concat(validate15.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate14.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema16.type,parentSchema:schema16,data}];
return false;
}
}
validate14.errors = vErrors;
return errors === 0;
}

const schema23 = {"title":"MessagesTool","description":"A tool of the client's, or by its type one of the provider's own.","type":"object","additionalProperties":true,"properties":{"type":{"description":"Left out or custom for a tool of the client's.","type":["string","null"]},"name":{"description":"Name the model calls it by.","type":"string","minLength":1},"description":{"description":"What it does.","type":["string","null"]},"input_schema":{"description":"JSON Schema of its input.","type":"object"},"strict":{"description":"Hold the model to the schema.","type":["boolean","null"]},"cache_control":{"description":"Marks the end of a prefix to cache.","$ref":"#/definitions/cacheControl"}},"if":{"properties":{"type":{"enum":["custom",null]}}},"then":{"required":["name","input_schema"]}};

function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs1 = errors;
let valid0 = true;
const _errs2 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type !== undefined){
let data0 = data.type;
if(!((data0 === "custom") || (data0 === null))){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
}
var _valid0 = _errs2 === errors;
errors = _errs1;
if(vErrors !== null){
if(_errs1){
vErrors.length = _errs1;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs4 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.name === undefined) && (missing0 = "name")) || ((data.input_schema === undefined) && (missing0 = "input_schema"))){
validate21.errors = [{instancePath,schemaPath:"#/then/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema23.then.required,parentSchema:schema23.then,data}];
return false;
}
}
var _valid0 = _errs4 === errors;
valid0 = _valid0;
}
if(!valid0){
const err1 = {instancePath,schemaPath:"#/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema23.if,parentSchema:schema23,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
validate21.errors = vErrors;
return false;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type !== undefined){
let data1 = data.type;
const _errs6 = errors;
if((typeof data1 !== "string") && (data1 !== null)){
validate21.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: schema23.properties.type.type},message:"must be string,null",schema:schema23.properties.type.type,parentSchema:schema23.properties.type,data:data1}];
return false;
}
var valid2 = _errs6 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data.name !== undefined){
let data2 = data.name;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data2 === "string"){
if(!func2(data2, 0)){
validate21.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema23.properties.name,data:data2}];
return false;
}
}
else {
validate21.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema23.properties.name.type,parentSchema:schema23.properties.name,data:data2}];
return false;
}
}
var valid2 = _errs8 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data.description !== undefined){
let data3 = data.description;
const _errs10 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate21.errors = [{instancePath:instancePath+"/description",schemaPath:"#/properties/description/type",keyword:"type",params:{type: schema23.properties.description.type},message:"must be string,null",schema:schema23.properties.description.type,parentSchema:schema23.properties.description,data:data3}];
return false;
}
var valid2 = _errs10 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data.input_schema !== undefined){
let data4 = data.input_schema;
const _errs12 = errors;
if(!(data4 && typeof data4 == "object" && !Array.isArray(data4))){
validate21.errors = [{instancePath:instancePath+"/input_schema",schemaPath:"#/properties/input_schema/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema23.properties.input_schema.type,parentSchema:schema23.properties.input_schema,data:data4}];
return false;
}
var valid2 = _errs12 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data.strict !== undefined){
let data5 = data.strict;
const _errs14 = errors;
if((typeof data5 !== "boolean") && (data5 !== null)){
validate21.errors = [{instancePath:instancePath+"/strict",schemaPath:"#/properties/strict/type",keyword:"type",params:{type: schema23.properties.strict.type},message:"must be boolean,null",schema:schema23.properties.strict.type,parentSchema:schema23.properties.strict,data:data5}];
return false;
}
var valid2 = _errs14 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data.cache_control !== undefined){
let data6 = data.cache_control;
const _errs16 = errors;
const _errs17 = errors;
if((!(data6 && typeof data6 == "object" && !Array.isArray(data6))) && (data6 !== null)){
validate21.errors = [{instancePath:instancePath+"/cache_control",schemaPath:"#/definitions/cacheControl/type",keyword:"type",params:{type: schema21.type},message:"must be object,null",schema:schema21.type,parentSchema:schema21,data:data6}];
return false;
}
if(errors === _errs17){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
let missing1;
if((data6.type === undefined) && (missing1 = "type")){
validate21.errors = [{instancePath:instancePath+"/cache_control",schemaPath:"#/definitions/cacheControl/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema21.required,parentSchema:schema21,data:data6}];
return false;
}
else {
if(data6.type !== undefined){
let data7 = data6.type;
const _errs20 = errors;
if(typeof data7 !== "string"){
validate21.errors = [{instancePath:instancePath+"/cache_control/type",schemaPath:"#/definitions/cacheControl/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema21.properties.type.type,parentSchema:schema21.properties.type,data:data7}];
return false;
}
var valid4 = _errs20 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data6.ttl !== undefined){
let data8 = data6.ttl;
const _errs22 = errors;
if((typeof data8 !== "string") && (data8 !== null)){
validate21.errors = [{instancePath:instancePath+"/cache_control/ttl",schemaPath:"#/definitions/cacheControl/properties/ttl/type",keyword:"type",params:{type: schema21.properties.ttl.type},message:"must be string,null",schema:schema21.properties.ttl.type,parentSchema:schema21.properties.ttl,data:data8}];
return false;
}
var valid4 = _errs22 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
var valid2 = _errs16 === errors;
}
else {
var valid2 = true;
}
}
}
}
}
}
}
else {
validate21.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema23.type,parentSchema:schema23,data}];
return false;
}
}
validate21.errors = vErrors;
return errors === 0;
}


function validate13(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/messages.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.model === undefined) && (missing0 = "model")) || ((data.max_tokens === undefined) && (missing0 = "max_tokens"))) || ((data.messages === undefined) && (missing0 = "messages"))){
validate13.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema15.required,parentSchema:schema15,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate13.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema15.properties.model,data:data0}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema15.properties.model.type,parentSchema:schema15.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.messages !== undefined){
let data1 = data.messages;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data1)){
if(data1.length < 1){
validate13.errors = [{instancePath:instancePath+"/messages",schemaPath:"#/properties/messages/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema15.properties.messages,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs6 = errors;
if(!(validate14(data1[i0], {instancePath:instancePath+"/messages/" + i0,parentData:data1,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate14.errors : vErrors.concat(validate14.errors);
errors = vErrors.length;
}
var valid1 = _errs6 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate13.errors = [{instancePath:instancePath+"/messages",schemaPath:"#/properties/messages/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema15.properties.messages.type,parentSchema:schema15.properties.messages,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.system !== undefined){
let data3 = data.system;
const _errs7 = errors;
if(((typeof data3 !== "string") && (!(Array.isArray(data3)))) && (data3 !== null)){
validate13.errors = [{instancePath:instancePath+"/system",schemaPath:"#/properties/system/type",keyword:"type",params:{type: schema15.properties.system.type},message:"must be string,array,null",schema:schema15.properties.system.type,parentSchema:schema15.properties.system,data:data3}];
return false;
}
if(errors === _errs7){
if(Array.isArray(data3)){
var valid2 = true;
const len1 = data3.length;
for(let i1=0; i1<len1; i1++){
const _errs9 = errors;
if(!(validate16(data3[i1], {instancePath:instancePath+"/system/" + i1,parentData:data3,parentDataProperty:i1,rootData}))){
vErrors = vErrors === null ? validate16.errors : vErrors.concat(validate16.errors);
errors = vErrors.length;
}
var valid2 = _errs9 === errors;
if(!valid2){
break;
}
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.max_tokens !== undefined){
let data5 = data.max_tokens;
const _errs10 = errors;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
validate13.errors = [{instancePath:instancePath+"/max_tokens",schemaPath:"#/properties/max_tokens/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema15.properties.max_tokens.type,parentSchema:schema15.properties.max_tokens,data:data5}];
return false;
}
if(errors === _errs10){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 0 || isNaN(data5)){
validate13.errors = [{instancePath:instancePath+"/max_tokens",schemaPath:"#/properties/max_tokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema15.properties.max_tokens,data:data5}];
return false;
}
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.temperature !== undefined){
let data6 = data.temperature;
const _errs12 = errors;
if((!((typeof data6 == "number") && (isFinite(data6)))) && (data6 !== null)){
validate13.errors = [{instancePath:instancePath+"/temperature",schemaPath:"#/properties/temperature/type",keyword:"type",params:{type: schema15.properties.temperature.type},message:"must be number,null",schema:schema15.properties.temperature.type,parentSchema:schema15.properties.temperature,data:data6}];
return false;
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.top_p !== undefined){
let data7 = data.top_p;
const _errs14 = errors;
if((!((typeof data7 == "number") && (isFinite(data7)))) && (data7 !== null)){
validate13.errors = [{instancePath:instancePath+"/top_p",schemaPath:"#/properties/top_p/type",keyword:"type",params:{type: schema15.properties.top_p.type},message:"must be number,null",schema:schema15.properties.top_p.type,parentSchema:schema15.properties.top_p,data:data7}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.top_k !== undefined){
let data8 = data.top_k;
const _errs16 = errors;
if((!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))) && (data8 !== null)){
validate13.errors = [{instancePath:instancePath+"/top_k",schemaPath:"#/properties/top_k/type",keyword:"type",params:{type: schema15.properties.top_k.type},message:"must be integer,null",schema:schema15.properties.top_k.type,parentSchema:schema15.properties.top_k,data:data8}];
return false;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stop_sequences !== undefined){
let data9 = data.stop_sequences;
const _errs18 = errors;
if((!(Array.isArray(data9))) && (data9 !== null)){
validate13.errors = [{instancePath:instancePath+"/stop_sequences",schemaPath:"#/properties/stop_sequences/type",keyword:"type",params:{type: schema15.properties.stop_sequences.type},message:"must be array,null",schema:schema15.properties.stop_sequences.type,parentSchema:schema15.properties.stop_sequences,data:data9}];
return false;
}
if(errors === _errs18){
if(Array.isArray(data9)){
var valid3 = true;
const len2 = data9.length;
for(let i2=0; i2<len2; i2++){
let data10 = data9[i2];
const _errs20 = errors;
if(typeof data10 !== "string"){
validate13.errors = [{instancePath:instancePath+"/stop_sequences/" + i2,schemaPath:"#/properties/stop_sequences/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema15.properties.stop_sequences.items.type,parentSchema:schema15.properties.stop_sequences.items,data:data10}];
return false;
}
var valid3 = _errs20 === errors;
if(!valid3){
break;
}
}
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream !== undefined){
let data11 = data.stream;
const _errs22 = errors;
if((typeof data11 !== "boolean") && (data11 !== null)){
validate13.errors = [{instancePath:instancePath+"/stream",schemaPath:"#/properties/stream/type",keyword:"type",params:{type: schema15.properties.stream.type},message:"must be boolean,null",schema:schema15.properties.stream.type,parentSchema:schema15.properties.stream,data:data11}];
return false;
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tools !== undefined){
let data12 = data.tools;
const _errs24 = errors;
if((!(Array.isArray(data12))) && (data12 !== null)){
validate13.errors = [{instancePath:instancePath+"/tools",schemaPath:"#/properties/tools/type",keyword:"type",params:{type: schema15.properties.tools.type},message:"must be array,null",schema:schema15.properties.tools.type,parentSchema:schema15.properties.tools,data:data12}];
return false;
}
if(errors === _errs24){
if(Array.isArray(data12)){
var valid4 = true;
const len3 = data12.length;
for(let i3=0; i3<len3; i3++){
const _errs26 = errors;
if(!(validate21(data12[i3], {instancePath:instancePath+"/tools/" + i3,parentData:data12,parentDataProperty:i3,rootData}))){
vErrors = vErrors === null ? validate21.errors : vErrors.concat(validate21.errors);
errors = vErrors.length;
}
var valid4 = _errs26 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tool_choice !== undefined){
let data14 = data.tool_choice;
const _errs27 = errors;
const _errs28 = errors;
if((!(data14 && typeof data14 == "object" && !Array.isArray(data14))) && (data14 !== null)){
validate13.errors = [{instancePath:instancePath+"/tool_choice",schemaPath:"#/definitions/toolChoice/type",keyword:"type",params:{type: schema25.type},message:"must be object,null",schema:schema25.type,parentSchema:schema25,data:data14}];
return false;
}
const _errs30 = errors;
let valid6 = true;
const _errs31 = errors;
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
let missing1;
if((data14.type === undefined) && (missing1 = "type")){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data14.type !== undefined){
if("tool" !== data14.type){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
}
var _valid0 = _errs31 === errors;
errors = _errs30;
if(vErrors !== null){
if(_errs30){
vErrors.length = _errs30;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs33 = errors;
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
let missing2;
if((data14.name === undefined) && (missing2 = "name")){
validate13.errors = [{instancePath:instancePath+"/tool_choice",schemaPath:"#/definitions/toolChoice/then/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'",schema:schema25.then.required,parentSchema:schema25.then,data:data14}];
return false;
}
}
var _valid0 = _errs33 === errors;
valid6 = _valid0;
}
if(!valid6){
const err2 = {instancePath:instancePath+"/tool_choice",schemaPath:"#/definitions/toolChoice/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema25.if,parentSchema:schema25,data:data14};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
validate13.errors = vErrors;
return false;
}
if(errors === _errs28){
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
let missing3;
if((data14.type === undefined) && (missing3 = "type")){
validate13.errors = [{instancePath:instancePath+"/tool_choice",schemaPath:"#/definitions/toolChoice/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'",schema:schema25.required,parentSchema:schema25,data:data14}];
return false;
}
else {
if(data14.type !== undefined){
let data16 = data14.type;
const _errs35 = errors;
if(errors === _errs35){
if(typeof data16 === "string"){
if(!func2(data16, 0)){
validate13.errors = [{instancePath:instancePath+"/tool_choice/type",schemaPath:"#/definitions/toolChoice/properties/type/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema25.properties.type,data:data16}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/tool_choice/type",schemaPath:"#/definitions/toolChoice/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema25.properties.type.type,parentSchema:schema25.properties.type,data:data16}];
return false;
}
}
var valid8 = _errs35 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data14.name !== undefined){
let data17 = data14.name;
const _errs37 = errors;
if(errors === _errs37){
if(typeof data17 === "string"){
if(!func2(data17, 0)){
validate13.errors = [{instancePath:instancePath+"/tool_choice/name",schemaPath:"#/definitions/toolChoice/properties/name/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema25.properties.name,data:data17}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/tool_choice/name",schemaPath:"#/definitions/toolChoice/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema25.properties.name.type,parentSchema:schema25.properties.name,data:data17}];
return false;
}
}
var valid8 = _errs37 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data14.disable_parallel_tool_use !== undefined){
let data18 = data14.disable_parallel_tool_use;
const _errs39 = errors;
if((typeof data18 !== "boolean") && (data18 !== null)){
validate13.errors = [{instancePath:instancePath+"/tool_choice/disable_parallel_tool_use",schemaPath:"#/definitions/toolChoice/properties/disable_parallel_tool_use/type",keyword:"type",params:{type: schema25.properties.disable_parallel_tool_use.type},message:"must be boolean,null",schema:schema25.properties.disable_parallel_tool_use.type,parentSchema:schema25.properties.disable_parallel_tool_use,data:data18}];
return false;
}
var valid8 = _errs39 === errors;
}
else {
var valid8 = true;
}
}
}
}
}
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.thinking !== undefined){
let data19 = data.thinking;
const _errs41 = errors;
if((!(data19 && typeof data19 == "object" && !Array.isArray(data19))) && (data19 !== null)){
validate13.errors = [{instancePath:instancePath+"/thinking",schemaPath:"#/properties/thinking/type",keyword:"type",params:{type: schema15.properties.thinking.type},message:"must be object,null",schema:schema15.properties.thinking.type,parentSchema:schema15.properties.thinking,data:data19}];
return false;
}
if(errors === _errs41){
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
let missing4;
if((data19.type === undefined) && (missing4 = "type")){
validate13.errors = [{instancePath:instancePath+"/thinking",schemaPath:"#/properties/thinking/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'",schema:schema15.properties.thinking.required,parentSchema:schema15.properties.thinking,data:data19}];
return false;
}
else {
if(data19.type !== undefined){
let data20 = data19.type;
const _errs44 = errors;
if(errors === _errs44){
if(typeof data20 === "string"){
if(!func2(data20, 0)){
validate13.errors = [{instancePath:instancePath+"/thinking/type",schemaPath:"#/properties/thinking/properties/type/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema15.properties.thinking.properties.type,data:data20}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/thinking/type",schemaPath:"#/properties/thinking/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema15.properties.thinking.properties.type.type,parentSchema:schema15.properties.thinking.properties.type,data:data20}];
return false;
}
}
var valid9 = _errs44 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data19.budget_tokens !== undefined){
let data21 = data19.budget_tokens;
const _errs46 = errors;
if((!(((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21))) && (isFinite(data21)))) && (data21 !== null)){
validate13.errors = [{instancePath:instancePath+"/thinking/budget_tokens",schemaPath:"#/properties/thinking/properties/budget_tokens/type",keyword:"type",params:{type: schema15.properties.thinking.properties.budget_tokens.type},message:"must be integer,null",schema:schema15.properties.thinking.properties.budget_tokens.type,parentSchema:schema15.properties.thinking.properties.budget_tokens,data:data21}];
return false;
}
if(errors === _errs46){
if((typeof data21 == "number") && (isFinite(data21))){
if(data21 < 1 || isNaN(data21)){
validate13.errors = [{instancePath:instancePath+"/thinking/budget_tokens",schemaPath:"#/properties/thinking/properties/budget_tokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema15.properties.thinking.properties.budget_tokens,data:data21}];
return false;
}
}
}
var valid9 = _errs46 === errors;
}
else {
var valid9 = true;
}
}
}
}
}
var valid0 = _errs41 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.output_config !== undefined){
let data22 = data.output_config;
const _errs48 = errors;
if((!(data22 && typeof data22 == "object" && !Array.isArray(data22))) && (data22 !== null)){
validate13.errors = [{instancePath:instancePath+"/output_config",schemaPath:"#/properties/output_config/type",keyword:"type",params:{type: schema15.properties.output_config.type},message:"must be object,null",schema:schema15.properties.output_config.type,parentSchema:schema15.properties.output_config,data:data22}];
return false;
}
if(errors === _errs48){
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
if(data22.effort !== undefined){
let data23 = data22.effort;
const _errs51 = errors;
if((typeof data23 !== "string") && (data23 !== null)){
validate13.errors = [{instancePath:instancePath+"/output_config/effort",schemaPath:"#/properties/output_config/properties/effort/type",keyword:"type",params:{type: schema15.properties.output_config.properties.effort.type},message:"must be string,null",schema:schema15.properties.output_config.properties.effort.type,parentSchema:schema15.properties.output_config.properties.effort,data:data23}];
return false;
}
var valid10 = _errs51 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data22.format !== undefined){
let data24 = data22.format;
const _errs53 = errors;
if((!(data24 && typeof data24 == "object" && !Array.isArray(data24))) && (data24 !== null)){
validate13.errors = [{instancePath:instancePath+"/output_config/format",schemaPath:"#/properties/output_config/properties/format/type",keyword:"type",params:{type: schema15.properties.output_config.properties.format.type},message:"must be object,null",schema:schema15.properties.output_config.properties.format.type,parentSchema:schema15.properties.output_config.properties.format,data:data24}];
return false;
}
var valid10 = _errs53 === errors;
}
else {
var valid10 = true;
}
}
}
}
var valid0 = _errs48 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.metadata !== undefined){
let data25 = data.metadata;
const _errs56 = errors;
if((!(data25 && typeof data25 == "object" && !Array.isArray(data25))) && (data25 !== null)){
validate13.errors = [{instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: schema15.properties.metadata.type},message:"must be object,null",schema:schema15.properties.metadata.type,parentSchema:schema15.properties.metadata,data:data25}];
return false;
}
if(errors === _errs56){
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
if(data25.user_id !== undefined){
let data26 = data25.user_id;
if((typeof data26 !== "string") && (data26 !== null)){
validate13.errors = [{instancePath:instancePath+"/metadata/user_id",schemaPath:"#/properties/metadata/properties/user_id/type",keyword:"type",params:{type: schema15.properties.metadata.properties.user_id.type},message:"must be string,null",schema:schema15.properties.metadata.properties.user_id.type,parentSchema:schema15.properties.metadata.properties.user_id,data:data26}];
return false;
}
}
}
}
var valid0 = _errs56 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.service_tier !== undefined){
let data27 = data.service_tier;
const _errs61 = errors;
if((typeof data27 !== "string") && (data27 !== null)){
validate13.errors = [{instancePath:instancePath+"/service_tier",schemaPath:"#/properties/service_tier/type",keyword:"type",params:{type: schema15.properties.service_tier.type},message:"must be string,null",schema:schema15.properties.service_tier.type,parentSchema:schema15.properties.service_tier,data:data27}];
return false;
}
var valid0 = _errs61 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate13.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema15.type,parentSchema:schema15,data}];
return false;
}
}
validate13.errors = vErrors;
return errors === 0;
}

export const count_tokens = validate23;
const schema26 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/count-tokens.schema.json","title":"CountTokensRequest","description":"Body of POST /v1/messages/count_tokens: that of POST /v1/messages, of which only the prompt matters.","type":"object","additionalProperties":true,"required":["model","messages"],"properties":{"model":{"description":"Identifier of a chat model.","type":"string","minLength":1},"messages":{"description":"The conversation so far: with its parts and tool calls at most 50,000 JSON values.","type":"array","minItems":1,"items":{"type":"object","additionalProperties":true,"required":["role","content"],"properties":{"role":{"description":"Who speaks.","enum":["user","assistant","system"]},"content":{"description":"Text, or blocks.","type":["string","array"],"items":{"type":"object"}}}}},"system":{"description":"Instructions, as text or text blocks.","type":["string","array","null"],"items":{"type":"object"}},"tools":{"description":"Tools the model may call.","type":["array","null"],"items":{"type":"object"}}}};

function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/count-tokens.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.model === undefined) && (missing0 = "model")) || ((data.messages === undefined) && (missing0 = "messages"))){
validate23.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema26.required,parentSchema:schema26,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate23.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema26.properties.model,data:data0}];
return false;
}
}
else {
validate23.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema26.properties.model.type,parentSchema:schema26.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.messages !== undefined){
let data1 = data.messages;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data1)){
if(data1.length < 1){
validate23.errors = [{instancePath:instancePath+"/messages",schemaPath:"#/properties/messages/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema26.properties.messages,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs6 = errors;
if(errors === _errs6){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing1;
if(((data2.role === undefined) && (missing1 = "role")) || ((data2.content === undefined) && (missing1 = "content"))){
validate23.errors = [{instancePath:instancePath+"/messages/" + i0,schemaPath:"#/properties/messages/items/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema26.properties.messages.items.required,parentSchema:schema26.properties.messages.items,data:data2}];
return false;
}
else {
if(data2.role !== undefined){
let data3 = data2.role;
const _errs9 = errors;
if(!(((data3 === "user") || (data3 === "assistant")) || (data3 === "system"))){
validate23.errors = [{instancePath:instancePath+"/messages/" + i0+"/role",schemaPath:"#/properties/messages/items/properties/role/enum",keyword:"enum",params:{allowedValues: schema26.properties.messages.items.properties.role.enum},message:"must be equal to one of the allowed values",schema:schema26.properties.messages.items.properties.role.enum,parentSchema:schema26.properties.messages.items.properties.role,data:data3}];
return false;
}
var valid2 = _errs9 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data2.content !== undefined){
let data4 = data2.content;
const _errs10 = errors;
if((typeof data4 !== "string") && (!(Array.isArray(data4)))){
validate23.errors = [{instancePath:instancePath+"/messages/" + i0+"/content",schemaPath:"#/properties/messages/items/properties/content/type",keyword:"type",params:{type: schema26.properties.messages.items.properties.content.type},message:"must be string,array",schema:schema26.properties.messages.items.properties.content.type,parentSchema:schema26.properties.messages.items.properties.content,data:data4}];
return false;
}
if(errors === _errs10){
if(Array.isArray(data4)){
var valid3 = true;
const len1 = data4.length;
for(let i1=0; i1<len1; i1++){
let data5 = data4[i1];
const _errs12 = errors;
if(!(data5 && typeof data5 == "object" && !Array.isArray(data5))){
validate23.errors = [{instancePath:instancePath+"/messages/" + i0+"/content/" + i1,schemaPath:"#/properties/messages/items/properties/content/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.properties.messages.items.properties.content.items.type,parentSchema:schema26.properties.messages.items.properties.content.items,data:data5}];
return false;
}
var valid3 = _errs12 === errors;
if(!valid3){
break;
}
}
}
}
var valid2 = _errs10 === errors;
}
else {
var valid2 = true;
}
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/messages/" + i0,schemaPath:"#/properties/messages/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.properties.messages.items.type,parentSchema:schema26.properties.messages.items,data:data2}];
return false;
}
}
var valid1 = _errs6 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/messages",schemaPath:"#/properties/messages/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema26.properties.messages.type,parentSchema:schema26.properties.messages,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.system !== undefined){
let data6 = data.system;
const _errs14 = errors;
if(((typeof data6 !== "string") && (!(Array.isArray(data6)))) && (data6 !== null)){
validate23.errors = [{instancePath:instancePath+"/system",schemaPath:"#/properties/system/type",keyword:"type",params:{type: schema26.properties.system.type},message:"must be string,array,null",schema:schema26.properties.system.type,parentSchema:schema26.properties.system,data:data6}];
return false;
}
if(errors === _errs14){
if(Array.isArray(data6)){
var valid4 = true;
const len2 = data6.length;
for(let i2=0; i2<len2; i2++){
let data7 = data6[i2];
const _errs16 = errors;
if(!(data7 && typeof data7 == "object" && !Array.isArray(data7))){
validate23.errors = [{instancePath:instancePath+"/system/" + i2,schemaPath:"#/properties/system/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.properties.system.items.type,parentSchema:schema26.properties.system.items,data:data7}];
return false;
}
var valid4 = _errs16 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tools !== undefined){
let data8 = data.tools;
const _errs18 = errors;
if((!(Array.isArray(data8))) && (data8 !== null)){
validate23.errors = [{instancePath:instancePath+"/tools",schemaPath:"#/properties/tools/type",keyword:"type",params:{type: schema26.properties.tools.type},message:"must be array,null",schema:schema26.properties.tools.type,parentSchema:schema26.properties.tools,data:data8}];
return false;
}
if(errors === _errs18){
if(Array.isArray(data8)){
var valid5 = true;
const len3 = data8.length;
for(let i3=0; i3<len3; i3++){
let data9 = data8[i3];
const _errs20 = errors;
if(!(data9 && typeof data9 == "object" && !Array.isArray(data9))){
validate23.errors = [{instancePath:instancePath+"/tools/" + i3,schemaPath:"#/properties/tools/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.properties.tools.items.type,parentSchema:schema26.properties.tools.items,data:data9}];
return false;
}
var valid5 = _errs20 === errors;
if(!valid5){
break;
}
}
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate23.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.type,parentSchema:schema26,data}];
return false;
}
}
validate23.errors = vErrors;
return errors === 0;
}

export const responses = validate24;
const schema27 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/responses-create.schema.json","title":"ResponsesRequest","description":"Body of POST /v1/responses. Nothing is stored: the input is the whole conversation. Unknown fields are allowed.","type":"object","additionalProperties":true,"required":["model","input"],"properties":{"model":{"description":"Identifier of a chat model.","type":"string","minLength":1},"input":{"description":"The conversation so far: a text of the user, or items of at most 50,000 JSON values.","type":["string","array"],"minItems":1,"items":{"$ref":"#/definitions/item"}},"instructions":{"description":"What the system says first.","type":["string","null"]},"stream":{"description":"Answer as server-sent events.","type":["boolean","null"]},"stream_options":{"description":"Options of the stream.","type":["object","null"]},"max_output_tokens":{"description":"Most tokens of the answer, reasoning included.","type":["integer","null"],"minimum":1},"temperature":{"description":"Sampling temperature.","type":["number","null"]},"top_p":{"description":"Nucleus sampling.","type":["number","null"]},"tools":{"description":"Tools the model may call. Those that run at a provider are dropped and reported.","type":["array","null"],"items":{"$ref":"#/definitions/tool"}},"tool_choice":{"description":"Which tool to call.","type":["string","object","null"]},"parallel_tool_calls":{"description":"Allow several calls at once.","type":["boolean","null"]},"text":{"description":"Shape of the answer's text.","type":["object","null"],"additionalProperties":true,"properties":{"format":{"description":"text, json_object or json_schema.","type":["object","null"],"additionalProperties":true,"required":["type"],"properties":{"type":{"description":"Kind of the format.","type":"string"}}},"verbosity":{"description":"How long the answer is to be.","type":["string","null"]}}},"reasoning":{"description":"How to reason.","type":["object","null"],"additionalProperties":true,"properties":{"effort":{"description":"How much to reason.","type":["string","null"]},"summary":{"description":"Show the reasoning as a summary.","type":["string","null"]}}},"include":{"description":"What to add to the answer.","type":["array","null"],"items":{"type":"string"}},"top_logprobs":{"description":"How many alternatives per token.","type":["integer","null"],"minimum":0,"maximum":20},"store":{"description":"Keep the answer; never done.","type":["boolean","null"]},"truncation":{"description":"What to do with an input that is too long.","type":["string","null"]},"background":{"description":"Answer later; refused.","type":["boolean","null"]},"previous_response_id":{"description":"A stored response to go on from; refused.","type":["string","null"]},"conversation":{"description":"A stored conversation; refused.","type":["string","object","null"]},"prompt":{"description":"A stored prompt; refused.","type":["object","null"]},"metadata":{"description":"Labels, repeated in the answer.","type":["object","null"],"additionalProperties":{"type":"string"}},"service_tier":{"description":"Processing class at the provider.","type":["string","null"]},"prompt_cache_key":{"description":"Groups prompts for the provider's cache.","type":["string","null"]},"safety_identifier":{"description":"Stable pseudonym of the end user.","type":["string","null"]},"user":{"description":"Identifier of the end user.","type":["string","null"]}},"definitions":{"item":{"title":"ResponsesItem","description":"A message, a call, its output, or reasoning.","type":"object","additionalProperties":true,"properties":{"type":{"description":"message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, reasoning.","type":["string","null"]},"role":{"description":"Who speaks: system, developer, user, assistant.","type":"string"},"content":{"description":"Text, or parts.","type":["string","array","null"],"items":{"$ref":"#/definitions/part"}},"call_id":{"description":"What a call and its output have in common.","type":"string","minLength":1},"name":{"description":"The tool that is called.","type":["string","null"]},"namespace":{"description":"Where the tool belongs.","type":["string","null"]},"arguments":{"description":"Arguments of a call, as JSON text.","type":["string","object"]},"input":{"description":"Input of a custom tool's call.","type":"string"},"output":{"description":"What a tool answered: text, or parts.","type":["string","array","object","null"]},"summary":{"description":"Summary of reasoning.","type":["array","null"],"items":{"type":"object"}},"encrypted_content":{"description":"Reasoning for its provider alone.","type":["string","null"]}}},"part":{"title":"ResponsesContentPart","description":"A part of a message.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"input_text, input_image, input_file, output_text, refusal.","type":"string"},"text":{"description":"Text of a text part.","type":"string"}}},"tool":{"title":"ResponsesTool","description":"A tool.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"function, custom or namespace; any other runs at a provider.","type":"string"},"name":{"description":"Name the model calls it by.","type":"string","minLength":1},"description":{"description":"What it does.","type":["string","null"]},"parameters":{"description":"JSON Schema of its arguments.","type":["object","null"]},"strict":{"description":"Hold the model to the schema.","type":["boolean","null"]}}}}};
const schema30 = {"title":"ResponsesTool","description":"A tool.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"function, custom or namespace; any other runs at a provider.","type":"string"},"name":{"description":"Name the model calls it by.","type":"string","minLength":1},"description":{"description":"What it does.","type":["string","null"]},"parameters":{"description":"JSON Schema of its arguments.","type":["object","null"]},"strict":{"description":"Hold the model to the schema.","type":["boolean","null"]}}};
const schema28 = {"title":"ResponsesItem","description":"A message, a call, its output, or reasoning.","type":"object","additionalProperties":true,"properties":{"type":{"description":"message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, reasoning.","type":["string","null"]},"role":{"description":"Who speaks: system, developer, user, assistant.","type":"string"},"content":{"description":"Text, or parts.","type":["string","array","null"],"items":{"$ref":"#/definitions/part"}},"call_id":{"description":"What a call and its output have in common.","type":"string","minLength":1},"name":{"description":"The tool that is called.","type":["string","null"]},"namespace":{"description":"Where the tool belongs.","type":["string","null"]},"arguments":{"description":"Arguments of a call, as JSON text.","type":["string","object"]},"input":{"description":"Input of a custom tool's call.","type":"string"},"output":{"description":"What a tool answered: text, or parts.","type":["string","array","object","null"]},"summary":{"description":"Summary of reasoning.","type":["array","null"],"items":{"type":"object"}},"encrypted_content":{"description":"Reasoning for its provider alone.","type":["string","null"]}}};
const schema29 = {"title":"ResponsesContentPart","description":"A part of a message.","type":"object","additionalProperties":true,"required":["type"],"properties":{"type":{"description":"input_text, input_image, input_file, output_text, refusal.","type":"string"},"text":{"description":"Text of a text part.","type":"string"}}};

function validate25(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type !== undefined){
let data0 = data.type;
const _errs2 = errors;
if((typeof data0 !== "string") && (data0 !== null)){
validate25.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: schema28.properties.type.type},message:"must be string,null",schema:schema28.properties.type.type,parentSchema:schema28.properties.type,data:data0}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.role !== undefined){
let data1 = data.role;
const _errs4 = errors;
if(typeof data1 !== "string"){
validate25.errors = [{instancePath:instancePath+"/role",schemaPath:"#/properties/role/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.role.type,parentSchema:schema28.properties.role,data:data1}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.content !== undefined){
let data2 = data.content;
const _errs6 = errors;
if(((typeof data2 !== "string") && (!(Array.isArray(data2)))) && (data2 !== null)){
validate25.errors = [{instancePath:instancePath+"/content",schemaPath:"#/properties/content/type",keyword:"type",params:{type: schema28.properties.content.type},message:"must be string,array,null",schema:schema28.properties.content.type,parentSchema:schema28.properties.content,data:data2}];
return false;
}
if(errors === _errs6){
if(Array.isArray(data2)){
var valid1 = true;
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing0;
if((data3.type === undefined) && (missing0 = "type")){
validate25.errors = [{instancePath:instancePath+"/content/" + i0,schemaPath:"#/definitions/part/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema29.required,parentSchema:schema29,data:data3}];
return false;
}
else {
if(data3.type !== undefined){
let data4 = data3.type;
const _errs12 = errors;
if(typeof data4 !== "string"){
validate25.errors = [{instancePath:instancePath+"/content/" + i0+"/type",schemaPath:"#/definitions/part/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema29.properties.type.type,parentSchema:schema29.properties.type,data:data4}];
return false;
}
var valid3 = _errs12 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data3.text !== undefined){
let data5 = data3.text;
const _errs14 = errors;
if(typeof data5 !== "string"){
validate25.errors = [{instancePath:instancePath+"/content/" + i0+"/text",schemaPath:"#/definitions/part/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema29.properties.text.type,parentSchema:schema29.properties.text,data:data5}];
return false;
}
var valid3 = _errs14 === errors;
}
else {
var valid3 = true;
}
}
}
}
else {
validate25.errors = [{instancePath:instancePath+"/content/" + i0,schemaPath:"#/definitions/part/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema29.type,parentSchema:schema29,data:data3}];
return false;
}
}
var valid1 = _errs8 === errors;
if(!valid1){
break;
}
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.call_id !== undefined){
let data6 = data.call_id;
const _errs16 = errors;
if(errors === _errs16){
if(typeof data6 === "string"){
if(!func2(data6, 0)){
validate25.errors = [{instancePath:instancePath+"/call_id",schemaPath:"#/properties/call_id/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema28.properties.call_id,data:data6}];
return false;
}
}
else {
validate25.errors = [{instancePath:instancePath+"/call_id",schemaPath:"#/properties/call_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.call_id.type,parentSchema:schema28.properties.call_id,data:data6}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data7 = data.name;
const _errs18 = errors;
if((typeof data7 !== "string") && (data7 !== null)){
validate25.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: schema28.properties.name.type},message:"must be string,null",schema:schema28.properties.name.type,parentSchema:schema28.properties.name,data:data7}];
return false;
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace !== undefined){
let data8 = data.namespace;
const _errs20 = errors;
if((typeof data8 !== "string") && (data8 !== null)){
validate25.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/properties/namespace/type",keyword:"type",params:{type: schema28.properties.namespace.type},message:"must be string,null",schema:schema28.properties.namespace.type,parentSchema:schema28.properties.namespace,data:data8}];
return false;
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.arguments !== undefined){
let data9 = data.arguments;
const _errs22 = errors;
if((typeof data9 !== "string") && (!(data9 && typeof data9 == "object" && !Array.isArray(data9)))){
validate25.errors = [{instancePath:instancePath+"/arguments",schemaPath:"#/properties/arguments/type",keyword:"type",params:{type: schema28.properties.arguments.type},message:"must be string,object",schema:schema28.properties.arguments.type,parentSchema:schema28.properties.arguments,data:data9}];
return false;
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.input !== undefined){
let data10 = data.input;
const _errs24 = errors;
if(typeof data10 !== "string"){
validate25.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.input.type,parentSchema:schema28.properties.input,data:data10}];
return false;
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.output !== undefined){
let data11 = data.output;
const _errs26 = errors;
if((typeof data11 != "object") && (typeof data11 !== "string")){
validate25.errors = [{instancePath:instancePath+"/output",schemaPath:"#/properties/output/type",keyword:"type",params:{type: schema28.properties.output.type},message:"must be string,array,object,null",schema:schema28.properties.output.type,parentSchema:schema28.properties.output,data:data11}];
return false;
}
var valid0 = _errs26 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.summary !== undefined){
let data12 = data.summary;
const _errs28 = errors;
if((!(Array.isArray(data12))) && (data12 !== null)){
validate25.errors = [{instancePath:instancePath+"/summary",schemaPath:"#/properties/summary/type",keyword:"type",params:{type: schema28.properties.summary.type},message:"must be array,null",schema:schema28.properties.summary.type,parentSchema:schema28.properties.summary,data:data12}];
return false;
}
if(errors === _errs28){
if(Array.isArray(data12)){
var valid4 = true;
const len1 = data12.length;
for(let i1=0; i1<len1; i1++){
let data13 = data12[i1];
const _errs30 = errors;
if(!(data13 && typeof data13 == "object" && !Array.isArray(data13))){
validate25.errors = [{instancePath:instancePath+"/summary/" + i1,schemaPath:"#/properties/summary/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema28.properties.summary.items.type,parentSchema:schema28.properties.summary.items,data:data13}];
return false;
}
var valid4 = _errs30 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs28 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.encrypted_content !== undefined){
let data14 = data.encrypted_content;
const _errs32 = errors;
if((typeof data14 !== "string") && (data14 !== null)){
validate25.errors = [{instancePath:instancePath+"/encrypted_content",schemaPath:"#/properties/encrypted_content/type",keyword:"type",params:{type: schema28.properties.encrypted_content.type},message:"must be string,null",schema:schema28.properties.encrypted_content.type,parentSchema:schema28.properties.encrypted_content,data:data14}];
return false;
}
var valid0 = _errs32 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate25.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema28.type,parentSchema:schema28,data}];
return false;
}
}
validate25.errors = vErrors;
return errors === 0;
}


function validate24(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/responses-create.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.model === undefined) && (missing0 = "model")) || ((data.input === undefined) && (missing0 = "input"))){
validate24.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema27.required,parentSchema:schema27,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate24.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema27.properties.model,data:data0}];
return false;
}
}
else {
validate24.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.model.type,parentSchema:schema27.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.input !== undefined){
let data1 = data.input;
const _errs4 = errors;
if((typeof data1 !== "string") && (!(Array.isArray(data1)))){
validate24.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/type",keyword:"type",params:{type: schema27.properties.input.type},message:"must be string,array",schema:schema27.properties.input.type,parentSchema:schema27.properties.input,data:data1}];
return false;
}
if(errors === _errs4){
if(Array.isArray(data1)){
if(data1.length < 1){
validate24.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema27.properties.input,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs6 = errors;
if(!(validate25(data1[i0], {instancePath:instancePath+"/input/" + i0,parentData:data1,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
}
var valid1 = _errs6 === errors;
if(!valid1){
break;
}
}
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.instructions !== undefined){
let data3 = data.instructions;
const _errs7 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate24.errors = [{instancePath:instancePath+"/instructions",schemaPath:"#/properties/instructions/type",keyword:"type",params:{type: schema27.properties.instructions.type},message:"must be string,null",schema:schema27.properties.instructions.type,parentSchema:schema27.properties.instructions,data:data3}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream !== undefined){
let data4 = data.stream;
const _errs9 = errors;
if((typeof data4 !== "boolean") && (data4 !== null)){
validate24.errors = [{instancePath:instancePath+"/stream",schemaPath:"#/properties/stream/type",keyword:"type",params:{type: schema27.properties.stream.type},message:"must be boolean,null",schema:schema27.properties.stream.type,parentSchema:schema27.properties.stream,data:data4}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream_options !== undefined){
let data5 = data.stream_options;
const _errs11 = errors;
if((!(data5 && typeof data5 == "object" && !Array.isArray(data5))) && (data5 !== null)){
validate24.errors = [{instancePath:instancePath+"/stream_options",schemaPath:"#/properties/stream_options/type",keyword:"type",params:{type: schema27.properties.stream_options.type},message:"must be object,null",schema:schema27.properties.stream_options.type,parentSchema:schema27.properties.stream_options,data:data5}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.max_output_tokens !== undefined){
let data6 = data.max_output_tokens;
const _errs13 = errors;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (data6 !== null)){
validate24.errors = [{instancePath:instancePath+"/max_output_tokens",schemaPath:"#/properties/max_output_tokens/type",keyword:"type",params:{type: schema27.properties.max_output_tokens.type},message:"must be integer,null",schema:schema27.properties.max_output_tokens.type,parentSchema:schema27.properties.max_output_tokens,data:data6}];
return false;
}
if(errors === _errs13){
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 1 || isNaN(data6)){
validate24.errors = [{instancePath:instancePath+"/max_output_tokens",schemaPath:"#/properties/max_output_tokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema27.properties.max_output_tokens,data:data6}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.temperature !== undefined){
let data7 = data.temperature;
const _errs15 = errors;
if((!((typeof data7 == "number") && (isFinite(data7)))) && (data7 !== null)){
validate24.errors = [{instancePath:instancePath+"/temperature",schemaPath:"#/properties/temperature/type",keyword:"type",params:{type: schema27.properties.temperature.type},message:"must be number,null",schema:schema27.properties.temperature.type,parentSchema:schema27.properties.temperature,data:data7}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.top_p !== undefined){
let data8 = data.top_p;
const _errs17 = errors;
if((!((typeof data8 == "number") && (isFinite(data8)))) && (data8 !== null)){
validate24.errors = [{instancePath:instancePath+"/top_p",schemaPath:"#/properties/top_p/type",keyword:"type",params:{type: schema27.properties.top_p.type},message:"must be number,null",schema:schema27.properties.top_p.type,parentSchema:schema27.properties.top_p,data:data8}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tools !== undefined){
let data9 = data.tools;
const _errs19 = errors;
if((!(Array.isArray(data9))) && (data9 !== null)){
validate24.errors = [{instancePath:instancePath+"/tools",schemaPath:"#/properties/tools/type",keyword:"type",params:{type: schema27.properties.tools.type},message:"must be array,null",schema:schema27.properties.tools.type,parentSchema:schema27.properties.tools,data:data9}];
return false;
}
if(errors === _errs19){
if(Array.isArray(data9)){
var valid2 = true;
const len1 = data9.length;
for(let i1=0; i1<len1; i1++){
let data10 = data9[i1];
const _errs21 = errors;
const _errs22 = errors;
if(errors === _errs22){
if(data10 && typeof data10 == "object" && !Array.isArray(data10)){
let missing1;
if((data10.type === undefined) && (missing1 = "type")){
validate24.errors = [{instancePath:instancePath+"/tools/" + i1,schemaPath:"#/definitions/tool/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema30.required,parentSchema:schema30,data:data10}];
return false;
}
else {
if(data10.type !== undefined){
let data11 = data10.type;
const _errs25 = errors;
if(typeof data11 !== "string"){
validate24.errors = [{instancePath:instancePath+"/tools/" + i1+"/type",schemaPath:"#/definitions/tool/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema30.properties.type.type,parentSchema:schema30.properties.type,data:data11}];
return false;
}
var valid4 = _errs25 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data10.name !== undefined){
let data12 = data10.name;
const _errs27 = errors;
if(errors === _errs27){
if(typeof data12 === "string"){
if(!func2(data12, 0)){
validate24.errors = [{instancePath:instancePath+"/tools/" + i1+"/name",schemaPath:"#/definitions/tool/properties/name/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema30.properties.name,data:data12}];
return false;
}
}
else {
validate24.errors = [{instancePath:instancePath+"/tools/" + i1+"/name",schemaPath:"#/definitions/tool/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema30.properties.name.type,parentSchema:schema30.properties.name,data:data12}];
return false;
}
}
var valid4 = _errs27 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data10.description !== undefined){
let data13 = data10.description;
const _errs29 = errors;
if((typeof data13 !== "string") && (data13 !== null)){
validate24.errors = [{instancePath:instancePath+"/tools/" + i1+"/description",schemaPath:"#/definitions/tool/properties/description/type",keyword:"type",params:{type: schema30.properties.description.type},message:"must be string,null",schema:schema30.properties.description.type,parentSchema:schema30.properties.description,data:data13}];
return false;
}
var valid4 = _errs29 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data10.parameters !== undefined){
let data14 = data10.parameters;
const _errs31 = errors;
if((!(data14 && typeof data14 == "object" && !Array.isArray(data14))) && (data14 !== null)){
validate24.errors = [{instancePath:instancePath+"/tools/" + i1+"/parameters",schemaPath:"#/definitions/tool/properties/parameters/type",keyword:"type",params:{type: schema30.properties.parameters.type},message:"must be object,null",schema:schema30.properties.parameters.type,parentSchema:schema30.properties.parameters,data:data14}];
return false;
}
var valid4 = _errs31 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data10.strict !== undefined){
let data15 = data10.strict;
const _errs33 = errors;
if((typeof data15 !== "boolean") && (data15 !== null)){
validate24.errors = [{instancePath:instancePath+"/tools/" + i1+"/strict",schemaPath:"#/definitions/tool/properties/strict/type",keyword:"type",params:{type: schema30.properties.strict.type},message:"must be boolean,null",schema:schema30.properties.strict.type,parentSchema:schema30.properties.strict,data:data15}];
return false;
}
var valid4 = _errs33 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/tools/" + i1,schemaPath:"#/definitions/tool/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema30.type,parentSchema:schema30,data:data10}];
return false;
}
}
var valid2 = _errs21 === errors;
if(!valid2){
break;
}
}
}
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tool_choice !== undefined){
let data16 = data.tool_choice;
const _errs35 = errors;
if(((typeof data16 !== "string") && (!(data16 && typeof data16 == "object" && !Array.isArray(data16)))) && (data16 !== null)){
validate24.errors = [{instancePath:instancePath+"/tool_choice",schemaPath:"#/properties/tool_choice/type",keyword:"type",params:{type: schema27.properties.tool_choice.type},message:"must be string,object,null",schema:schema27.properties.tool_choice.type,parentSchema:schema27.properties.tool_choice,data:data16}];
return false;
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parallel_tool_calls !== undefined){
let data17 = data.parallel_tool_calls;
const _errs37 = errors;
if((typeof data17 !== "boolean") && (data17 !== null)){
validate24.errors = [{instancePath:instancePath+"/parallel_tool_calls",schemaPath:"#/properties/parallel_tool_calls/type",keyword:"type",params:{type: schema27.properties.parallel_tool_calls.type},message:"must be boolean,null",schema:schema27.properties.parallel_tool_calls.type,parentSchema:schema27.properties.parallel_tool_calls,data:data17}];
return false;
}
var valid0 = _errs37 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.text !== undefined){
let data18 = data.text;
const _errs39 = errors;
if((!(data18 && typeof data18 == "object" && !Array.isArray(data18))) && (data18 !== null)){
validate24.errors = [{instancePath:instancePath+"/text",schemaPath:"#/properties/text/type",keyword:"type",params:{type: schema27.properties.text.type},message:"must be object,null",schema:schema27.properties.text.type,parentSchema:schema27.properties.text,data:data18}];
return false;
}
if(errors === _errs39){
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
if(data18.format !== undefined){
let data19 = data18.format;
const _errs42 = errors;
if((!(data19 && typeof data19 == "object" && !Array.isArray(data19))) && (data19 !== null)){
validate24.errors = [{instancePath:instancePath+"/text/format",schemaPath:"#/properties/text/properties/format/type",keyword:"type",params:{type: schema27.properties.text.properties.format.type},message:"must be object,null",schema:schema27.properties.text.properties.format.type,parentSchema:schema27.properties.text.properties.format,data:data19}];
return false;
}
if(errors === _errs42){
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
let missing2;
if((data19.type === undefined) && (missing2 = "type")){
validate24.errors = [{instancePath:instancePath+"/text/format",schemaPath:"#/properties/text/properties/format/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'",schema:schema27.properties.text.properties.format.required,parentSchema:schema27.properties.text.properties.format,data:data19}];
return false;
}
else {
if(data19.type !== undefined){
let data20 = data19.type;
if(typeof data20 !== "string"){
validate24.errors = [{instancePath:instancePath+"/text/format/type",schemaPath:"#/properties/text/properties/format/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.text.properties.format.properties.type.type,parentSchema:schema27.properties.text.properties.format.properties.type,data:data20}];
return false;
}
}
}
}
}
var valid5 = _errs42 === errors;
}
else {
var valid5 = true;
}
if(valid5){
if(data18.verbosity !== undefined){
let data21 = data18.verbosity;
const _errs47 = errors;
if((typeof data21 !== "string") && (data21 !== null)){
validate24.errors = [{instancePath:instancePath+"/text/verbosity",schemaPath:"#/properties/text/properties/verbosity/type",keyword:"type",params:{type: schema27.properties.text.properties.verbosity.type},message:"must be string,null",schema:schema27.properties.text.properties.verbosity.type,parentSchema:schema27.properties.text.properties.verbosity,data:data21}];
return false;
}
var valid5 = _errs47 === errors;
}
else {
var valid5 = true;
}
}
}
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reasoning !== undefined){
let data22 = data.reasoning;
const _errs49 = errors;
if((!(data22 && typeof data22 == "object" && !Array.isArray(data22))) && (data22 !== null)){
validate24.errors = [{instancePath:instancePath+"/reasoning",schemaPath:"#/properties/reasoning/type",keyword:"type",params:{type: schema27.properties.reasoning.type},message:"must be object,null",schema:schema27.properties.reasoning.type,parentSchema:schema27.properties.reasoning,data:data22}];
return false;
}
if(errors === _errs49){
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
if(data22.effort !== undefined){
let data23 = data22.effort;
const _errs52 = errors;
if((typeof data23 !== "string") && (data23 !== null)){
validate24.errors = [{instancePath:instancePath+"/reasoning/effort",schemaPath:"#/properties/reasoning/properties/effort/type",keyword:"type",params:{type: schema27.properties.reasoning.properties.effort.type},message:"must be string,null",schema:schema27.properties.reasoning.properties.effort.type,parentSchema:schema27.properties.reasoning.properties.effort,data:data23}];
return false;
}
var valid7 = _errs52 === errors;
}
else {
var valid7 = true;
}
if(valid7){
if(data22.summary !== undefined){
let data24 = data22.summary;
const _errs54 = errors;
if((typeof data24 !== "string") && (data24 !== null)){
validate24.errors = [{instancePath:instancePath+"/reasoning/summary",schemaPath:"#/properties/reasoning/properties/summary/type",keyword:"type",params:{type: schema27.properties.reasoning.properties.summary.type},message:"must be string,null",schema:schema27.properties.reasoning.properties.summary.type,parentSchema:schema27.properties.reasoning.properties.summary,data:data24}];
return false;
}
var valid7 = _errs54 === errors;
}
else {
var valid7 = true;
}
}
}
}
var valid0 = _errs49 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.include !== undefined){
let data25 = data.include;
const _errs56 = errors;
if((!(Array.isArray(data25))) && (data25 !== null)){
validate24.errors = [{instancePath:instancePath+"/include",schemaPath:"#/properties/include/type",keyword:"type",params:{type: schema27.properties.include.type},message:"must be array,null",schema:schema27.properties.include.type,parentSchema:schema27.properties.include,data:data25}];
return false;
}
if(errors === _errs56){
if(Array.isArray(data25)){
var valid8 = true;
const len2 = data25.length;
for(let i2=0; i2<len2; i2++){
let data26 = data25[i2];
const _errs58 = errors;
if(typeof data26 !== "string"){
validate24.errors = [{instancePath:instancePath+"/include/" + i2,schemaPath:"#/properties/include/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.include.items.type,parentSchema:schema27.properties.include.items,data:data26}];
return false;
}
var valid8 = _errs58 === errors;
if(!valid8){
break;
}
}
}
}
var valid0 = _errs56 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.top_logprobs !== undefined){
let data27 = data.top_logprobs;
const _errs60 = errors;
if((!(((typeof data27 == "number") && (!(data27 % 1) && !isNaN(data27))) && (isFinite(data27)))) && (data27 !== null)){
validate24.errors = [{instancePath:instancePath+"/top_logprobs",schemaPath:"#/properties/top_logprobs/type",keyword:"type",params:{type: schema27.properties.top_logprobs.type},message:"must be integer,null",schema:schema27.properties.top_logprobs.type,parentSchema:schema27.properties.top_logprobs,data:data27}];
return false;
}
if(errors === _errs60){
if((typeof data27 == "number") && (isFinite(data27))){
if(data27 > 20 || isNaN(data27)){
validate24.errors = [{instancePath:instancePath+"/top_logprobs",schemaPath:"#/properties/top_logprobs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 20},message:"must be <= 20",schema:20,parentSchema:schema27.properties.top_logprobs,data:data27}];
return false;
}
else {
if(data27 < 0 || isNaN(data27)){
validate24.errors = [{instancePath:instancePath+"/top_logprobs",schemaPath:"#/properties/top_logprobs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema27.properties.top_logprobs,data:data27}];
return false;
}
}
}
}
var valid0 = _errs60 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.store !== undefined){
let data28 = data.store;
const _errs62 = errors;
if((typeof data28 !== "boolean") && (data28 !== null)){
validate24.errors = [{instancePath:instancePath+"/store",schemaPath:"#/properties/store/type",keyword:"type",params:{type: schema27.properties.store.type},message:"must be boolean,null",schema:schema27.properties.store.type,parentSchema:schema27.properties.store,data:data28}];
return false;
}
var valid0 = _errs62 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.truncation !== undefined){
let data29 = data.truncation;
const _errs64 = errors;
if((typeof data29 !== "string") && (data29 !== null)){
validate24.errors = [{instancePath:instancePath+"/truncation",schemaPath:"#/properties/truncation/type",keyword:"type",params:{type: schema27.properties.truncation.type},message:"must be string,null",schema:schema27.properties.truncation.type,parentSchema:schema27.properties.truncation,data:data29}];
return false;
}
var valid0 = _errs64 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.background !== undefined){
let data30 = data.background;
const _errs66 = errors;
if((typeof data30 !== "boolean") && (data30 !== null)){
validate24.errors = [{instancePath:instancePath+"/background",schemaPath:"#/properties/background/type",keyword:"type",params:{type: schema27.properties.background.type},message:"must be boolean,null",schema:schema27.properties.background.type,parentSchema:schema27.properties.background,data:data30}];
return false;
}
var valid0 = _errs66 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.previous_response_id !== undefined){
let data31 = data.previous_response_id;
const _errs68 = errors;
if((typeof data31 !== "string") && (data31 !== null)){
validate24.errors = [{instancePath:instancePath+"/previous_response_id",schemaPath:"#/properties/previous_response_id/type",keyword:"type",params:{type: schema27.properties.previous_response_id.type},message:"must be string,null",schema:schema27.properties.previous_response_id.type,parentSchema:schema27.properties.previous_response_id,data:data31}];
return false;
}
var valid0 = _errs68 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.conversation !== undefined){
let data32 = data.conversation;
const _errs70 = errors;
if(((typeof data32 !== "string") && (!(data32 && typeof data32 == "object" && !Array.isArray(data32)))) && (data32 !== null)){
validate24.errors = [{instancePath:instancePath+"/conversation",schemaPath:"#/properties/conversation/type",keyword:"type",params:{type: schema27.properties.conversation.type},message:"must be string,object,null",schema:schema27.properties.conversation.type,parentSchema:schema27.properties.conversation,data:data32}];
return false;
}
var valid0 = _errs70 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.prompt !== undefined){
let data33 = data.prompt;
const _errs72 = errors;
if((!(data33 && typeof data33 == "object" && !Array.isArray(data33))) && (data33 !== null)){
validate24.errors = [{instancePath:instancePath+"/prompt",schemaPath:"#/properties/prompt/type",keyword:"type",params:{type: schema27.properties.prompt.type},message:"must be object,null",schema:schema27.properties.prompt.type,parentSchema:schema27.properties.prompt,data:data33}];
return false;
}
var valid0 = _errs72 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.metadata !== undefined){
let data34 = data.metadata;
const _errs74 = errors;
if((!(data34 && typeof data34 == "object" && !Array.isArray(data34))) && (data34 !== null)){
validate24.errors = [{instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: schema27.properties.metadata.type},message:"must be object,null",schema:schema27.properties.metadata.type,parentSchema:schema27.properties.metadata,data:data34}];
return false;
}
if(errors === _errs74){
if(data34 && typeof data34 == "object" && !Array.isArray(data34)){
for(const key0 in data34){
let data35 = data34[key0];
const _errs77 = errors;
if(typeof data35 !== "string"){
validate24.errors = [{instancePath:instancePath+"/metadata/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/metadata/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.metadata.additionalProperties.type,parentSchema:schema27.properties.metadata.additionalProperties,data:data35}];
return false;
}
var valid9 = _errs77 === errors;
if(!valid9){
break;
}
}
}
}
var valid0 = _errs74 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.service_tier !== undefined){
let data36 = data.service_tier;
const _errs79 = errors;
if((typeof data36 !== "string") && (data36 !== null)){
validate24.errors = [{instancePath:instancePath+"/service_tier",schemaPath:"#/properties/service_tier/type",keyword:"type",params:{type: schema27.properties.service_tier.type},message:"must be string,null",schema:schema27.properties.service_tier.type,parentSchema:schema27.properties.service_tier,data:data36}];
return false;
}
var valid0 = _errs79 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.prompt_cache_key !== undefined){
let data37 = data.prompt_cache_key;
const _errs81 = errors;
if((typeof data37 !== "string") && (data37 !== null)){
validate24.errors = [{instancePath:instancePath+"/prompt_cache_key",schemaPath:"#/properties/prompt_cache_key/type",keyword:"type",params:{type: schema27.properties.prompt_cache_key.type},message:"must be string,null",schema:schema27.properties.prompt_cache_key.type,parentSchema:schema27.properties.prompt_cache_key,data:data37}];
return false;
}
var valid0 = _errs81 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.safety_identifier !== undefined){
let data38 = data.safety_identifier;
const _errs83 = errors;
if((typeof data38 !== "string") && (data38 !== null)){
validate24.errors = [{instancePath:instancePath+"/safety_identifier",schemaPath:"#/properties/safety_identifier/type",keyword:"type",params:{type: schema27.properties.safety_identifier.type},message:"must be string,null",schema:schema27.properties.safety_identifier.type,parentSchema:schema27.properties.safety_identifier,data:data38}];
return false;
}
var valid0 = _errs83 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
let data39 = data.user;
const _errs85 = errors;
if((typeof data39 !== "string") && (data39 !== null)){
validate24.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: schema27.properties.user.type},message:"must be string,null",schema:schema27.properties.user.type,parentSchema:schema27.properties.user,data:data39}];
return false;
}
var valid0 = _errs85 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate24.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema27.type,parentSchema:schema27,data}];
return false;
}
}
validate24.errors = vErrors;
return errors === 0;
}

export const embeddings = validate27;
const schema31 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/embeddings.schema.json","title":"EmbeddingsRequest","description":"Body of POST /v1/embeddings. Unknown fields are allowed: they travel to the upstream.","type":"object","additionalProperties":true,"required":["model","input"],"properties":{"model":{"description":"Identifier of an embedding model.","type":"string","minLength":1},"input":{"description":"A text, or a list of texts; instead of a text also its tokens.","type":["string","array"],"minLength":1,"minItems":1,"if":{"type":"array","contains":{"type":"number"}},"then":{"items":{"$ref":"#/definitions/token"}},"else":{"maxItems":2048,"if":{"type":"array","contains":{"type":"array"}},"then":{"items":{"type":"array","minItems":1,"items":{"$ref":"#/definitions/token"}}},"else":{"items":{"type":"string","minLength":1}}}},"encoding_format":{"description":"How vectors are written: lists of numbers, or the base64 text of little-endian float32 values.","enum":["float","base64",null]},"dimensions":{"description":"Length of the vectors.","type":["integer","null"],"minimum":1},"user":{"description":"Identifier of the end user.","type":["string","null"]}},"definitions":{"token":{"title":"Token","type":"integer","minimum":0}}};
const schema32 = {"title":"Token","type":"integer","minimum":0};

function validate27(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/embeddings.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.model === undefined) && (missing0 = "model")) || ((data.input === undefined) && (missing0 = "input"))){
validate27.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema31.required,parentSchema:schema31,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate27.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema31.properties.model,data:data0}];
return false;
}
}
else {
validate27.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.model.type,parentSchema:schema31.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.input !== undefined){
let data1 = data.input;
const _errs4 = errors;
if((typeof data1 !== "string") && (!(Array.isArray(data1)))){
validate27.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/type",keyword:"type",params:{type: schema31.properties.input.type},message:"must be string,array",schema:schema31.properties.input.type,parentSchema:schema31.properties.input,data:data1}];
return false;
}
const _errs6 = errors;
let valid1 = true;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data1)){
const _errs9 = errors;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs10 = errors;
if(!((typeof data2 == "number") && (isFinite(data2)))){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var valid2 = _errs10 === errors;
if(valid2){
break;
}
}
if(!valid2){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
else {
errors = _errs9;
if(vErrors !== null){
if(_errs9){
vErrors.length = _errs9;
}
else {
vErrors = null;
}
}
}
}
else {
const err2 = {};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
errors = _errs6;
if(vErrors !== null){
if(_errs6){
vErrors.length = _errs6;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs12 = errors;
if(Array.isArray(data1)){
var valid3 = true;
const len1 = data1.length;
for(let i1=0; i1<len1; i1++){
let data3 = data1[i1];
const _errs13 = errors;
const _errs14 = errors;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
validate27.errors = [{instancePath:instancePath+"/input/" + i1,schemaPath:"#/definitions/token/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema32.type,parentSchema:schema32,data:data3}];
return false;
}
if(errors === _errs14){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 0 || isNaN(data3)){
validate27.errors = [{instancePath:instancePath+"/input/" + i1,schemaPath:"#/definitions/token/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema32,data:data3}];
return false;
}
}
}
var valid3 = _errs13 === errors;
if(!valid3){
break;
}
}
}
var _valid0 = _errs12 === errors;
valid1 = _valid0;
ifClause0 = "then";
}
else {
const _errs16 = errors;
const _errs17 = errors;
let valid5 = true;
const _errs18 = errors;
if(errors === _errs18){
if(Array.isArray(data1)){
const _errs20 = errors;
const len2 = data1.length;
for(let i2=0; i2<len2; i2++){
const _errs21 = errors;
if(!(Array.isArray(data1[i2]))){
const err3 = {};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var valid6 = _errs21 === errors;
if(valid6){
break;
}
}
if(!valid6){
const err4 = {};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
errors = _errs20;
if(vErrors !== null){
if(_errs20){
vErrors.length = _errs20;
}
else {
vErrors = null;
}
}
}
}
else {
const err5 = {};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var _valid1 = _errs18 === errors;
errors = _errs17;
if(vErrors !== null){
if(_errs17){
vErrors.length = _errs17;
}
else {
vErrors = null;
}
}
let ifClause1;
if(_valid1){
const _errs23 = errors;
if(Array.isArray(data1)){
var valid7 = true;
const len3 = data1.length;
for(let i3=0; i3<len3; i3++){
let data5 = data1[i3];
const _errs24 = errors;
if(errors === _errs24){
if(Array.isArray(data5)){
if(data5.length < 1){
validate27.errors = [{instancePath:instancePath+"/input/" + i3,schemaPath:"#/properties/input/else/then/items/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema31.properties.input.else.then.items,data:data5}];
return false;
}
else {
var valid8 = true;
const len4 = data5.length;
for(let i4=0; i4<len4; i4++){
let data6 = data5[i4];
const _errs26 = errors;
const _errs27 = errors;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
validate27.errors = [{instancePath:instancePath+"/input/" + i3+"/" + i4,schemaPath:"#/definitions/token/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema32.type,parentSchema:schema32,data:data6}];
return false;
}
if(errors === _errs27){
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 0 || isNaN(data6)){
validate27.errors = [{instancePath:instancePath+"/input/" + i3+"/" + i4,schemaPath:"#/definitions/token/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema32,data:data6}];
return false;
}
}
}
var valid8 = _errs26 === errors;
if(!valid8){
break;
}
}
}
}
else {
validate27.errors = [{instancePath:instancePath+"/input/" + i3,schemaPath:"#/properties/input/else/then/items/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.input.else.then.items.type,parentSchema:schema31.properties.input.else.then.items,data:data5}];
return false;
}
}
var valid7 = _errs24 === errors;
if(!valid7){
break;
}
}
}
var _valid1 = _errs23 === errors;
valid5 = _valid1;
ifClause1 = "then";
}
else {
const _errs29 = errors;
if(Array.isArray(data1)){
var valid10 = true;
const len5 = data1.length;
for(let i5=0; i5<len5; i5++){
let data7 = data1[i5];
const _errs30 = errors;
if(errors === _errs30){
if(typeof data7 === "string"){
if(!func2(data7, 0)){
validate27.errors = [{instancePath:instancePath+"/input/" + i5,schemaPath:"#/properties/input/else/else/items/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema31.properties.input.else.else.items,data:data7}];
return false;
}
}
else {
validate27.errors = [{instancePath:instancePath+"/input/" + i5,schemaPath:"#/properties/input/else/else/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.input.else.else.items.type,parentSchema:schema31.properties.input.else.else.items,data:data7}];
return false;
}
}
var valid10 = _errs30 === errors;
if(!valid10){
break;
}
}
}
var _valid1 = _errs29 === errors;
valid5 = _valid1;
ifClause1 = "else";
}
if(!valid5){
const err6 = {instancePath:instancePath+"/input",schemaPath:"#/properties/input/else/if",keyword:"if",params:{failingKeyword: ifClause1},message:"must match \""+ifClause1+"\" schema",schema:schema31.properties.input.else.if,parentSchema:schema31.properties.input.else,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
validate27.errors = vErrors;
return false;
}
if(errors === _errs16){
if(Array.isArray(data1)){
if(data1.length > 2048){
validate27.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/else/maxItems",keyword:"maxItems",params:{limit: 2048},message:"must NOT have more than 2048 items",schema:2048,parentSchema:schema31.properties.input.else,data:data1}];
return false;
}
}
}
var _valid0 = _errs16 === errors;
valid1 = _valid0;
ifClause0 = "else";
}
if(!valid1){
const err7 = {instancePath:instancePath+"/input",schemaPath:"#/properties/input/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema31.properties.input.if,parentSchema:schema31.properties.input,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
validate27.errors = vErrors;
return false;
}
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate27.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema31.properties.input,data:data1}];
return false;
}
}
if(errors === _errs4){
if(Array.isArray(data1)){
if(data1.length < 1){
validate27.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema31.properties.input,data:data1}];
return false;
}
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.encoding_format !== undefined){
let data8 = data.encoding_format;
const _errs32 = errors;
if(!(((data8 === "float") || (data8 === "base64")) || (data8 === null))){
validate27.errors = [{instancePath:instancePath+"/encoding_format",schemaPath:"#/properties/encoding_format/enum",keyword:"enum",params:{allowedValues: schema31.properties.encoding_format.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.encoding_format.enum,parentSchema:schema31.properties.encoding_format,data:data8}];
return false;
}
var valid0 = _errs32 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.dimensions !== undefined){
let data9 = data.dimensions;
const _errs33 = errors;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (data9 !== null)){
validate27.errors = [{instancePath:instancePath+"/dimensions",schemaPath:"#/properties/dimensions/type",keyword:"type",params:{type: schema31.properties.dimensions.type},message:"must be integer,null",schema:schema31.properties.dimensions.type,parentSchema:schema31.properties.dimensions,data:data9}];
return false;
}
if(errors === _errs33){
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 1 || isNaN(data9)){
validate27.errors = [{instancePath:instancePath+"/dimensions",schemaPath:"#/properties/dimensions/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema31.properties.dimensions,data:data9}];
return false;
}
}
}
var valid0 = _errs33 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
let data10 = data.user;
const _errs35 = errors;
if((typeof data10 !== "string") && (data10 !== null)){
validate27.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: schema31.properties.user.type},message:"must be string,null",schema:schema31.properties.user.type,parentSchema:schema31.properties.user,data:data10}];
return false;
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate27.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.type,parentSchema:schema31,data}];
return false;
}
}
validate27.errors = vErrors;
return errors === 0;
}

export const rerank = validate28;
const schema34 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/rerank.schema.json","title":"RerankRequest","description":"Body of POST /v1/rerank. Unknown fields are allowed: they travel to the upstream.","type":"object","additionalProperties":true,"required":["model","query","documents"],"properties":{"model":{"description":"Identifier of a rerank model.","type":"string","minLength":1},"query":{"description":"What the documents are ranked by.","type":"string","minLength":1,"maxLength":65536},"documents":{"description":"The documents: texts, or objects with a text.","type":"array","minItems":1,"maxItems":1000,"items":{"type":["string","object"],"additionalProperties":true,"required":["text"],"properties":{"text":{"description":"Text of the document.","type":"string"}}}},"top_n":{"description":"Most results to return; all when left out.","type":["integer","null"],"minimum":1},"return_documents":{"description":"Return the text of each result's document with it.","type":["boolean","null"]}}};

function validate28(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/rerank.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.model === undefined) && (missing0 = "model")) || ((data.query === undefined) && (missing0 = "query"))) || ((data.documents === undefined) && (missing0 = "documents"))){
validate28.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema34.required,parentSchema:schema34,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate28.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema34.properties.model,data:data0}];
return false;
}
}
else {
validate28.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.model.type,parentSchema:schema34.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.query !== undefined){
let data1 = data.query;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate28.errors = [{instancePath:instancePath+"/query",schemaPath:"#/properties/query/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema34.properties.query,data:data1}];
return false;
}
else {
if(func2(data1, 65536)){
validate28.errors = [{instancePath:instancePath+"/query",schemaPath:"#/properties/query/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:65536,parentSchema:schema34.properties.query,data:data1}];
return false;
}
}
}
else {
validate28.errors = [{instancePath:instancePath+"/query",schemaPath:"#/properties/query/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.query.type,parentSchema:schema34.properties.query,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.documents !== undefined){
let data2 = data.documents;
const _errs6 = errors;
if(errors === _errs6){
if(Array.isArray(data2)){
if(data2.length > 1000){
validate28.errors = [{instancePath:instancePath+"/documents",schemaPath:"#/properties/documents/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items",schema:1000,parentSchema:schema34.properties.documents,data:data2}];
return false;
}
else {
if(data2.length < 1){
validate28.errors = [{instancePath:instancePath+"/documents",schemaPath:"#/properties/documents/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema34.properties.documents,data:data2}];
return false;
}
else {
var valid1 = true;
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
const _errs8 = errors;
if((typeof data3 !== "string") && (!(data3 && typeof data3 == "object" && !Array.isArray(data3)))){
validate28.errors = [{instancePath:instancePath+"/documents/" + i0,schemaPath:"#/properties/documents/items/type",keyword:"type",params:{type: schema34.properties.documents.items.type},message:"must be string,object",schema:schema34.properties.documents.items.type,parentSchema:schema34.properties.documents.items,data:data3}];
return false;
}
if(errors === _errs8){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing1;
if((data3.text === undefined) && (missing1 = "text")){
validate28.errors = [{instancePath:instancePath+"/documents/" + i0,schemaPath:"#/properties/documents/items/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema34.properties.documents.items.required,parentSchema:schema34.properties.documents.items,data:data3}];
return false;
}
else {
if(data3.text !== undefined){
let data4 = data3.text;
if(typeof data4 !== "string"){
validate28.errors = [{instancePath:instancePath+"/documents/" + i0+"/text",schemaPath:"#/properties/documents/items/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.documents.items.properties.text.type,parentSchema:schema34.properties.documents.items.properties.text,data:data4}];
return false;
}
}
}
}
}
var valid1 = _errs8 === errors;
if(!valid1){
break;
}
}
}
}
}
else {
validate28.errors = [{instancePath:instancePath+"/documents",schemaPath:"#/properties/documents/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema34.properties.documents.type,parentSchema:schema34.properties.documents,data:data2}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.top_n !== undefined){
let data5 = data.top_n;
const _errs13 = errors;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (data5 !== null)){
validate28.errors = [{instancePath:instancePath+"/top_n",schemaPath:"#/properties/top_n/type",keyword:"type",params:{type: schema34.properties.top_n.type},message:"must be integer,null",schema:schema34.properties.top_n.type,parentSchema:schema34.properties.top_n,data:data5}];
return false;
}
if(errors === _errs13){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 1 || isNaN(data5)){
validate28.errors = [{instancePath:instancePath+"/top_n",schemaPath:"#/properties/top_n/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema34.properties.top_n,data:data5}];
return false;
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.return_documents !== undefined){
let data6 = data.return_documents;
const _errs15 = errors;
if((typeof data6 !== "boolean") && (data6 !== null)){
validate28.errors = [{instancePath:instancePath+"/return_documents",schemaPath:"#/properties/return_documents/type",keyword:"type",params:{type: schema34.properties.return_documents.type},message:"must be boolean,null",schema:schema34.properties.return_documents.type,parentSchema:schema34.properties.return_documents,data:data6}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate28.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema34.type,parentSchema:schema34,data}];
return false;
}
}
validate28.errors = vErrors;
return errors === 0;
}

export const speech = validate29;
const schema35 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/speech.schema.json","title":"SpeechRequest","description":"Body of POST /v1/audio/speech. Unknown fields are allowed: they travel to the upstream.","type":"object","additionalProperties":true,"required":["model","input","voice"],"properties":{"model":{"description":"Identifier of a speech model.","type":"string","minLength":1},"input":{"description":"Text to speak.","type":"string","minLength":1,"maxLength":40000},"voice":{"description":"One of the model's voices.","type":"string","minLength":1},"response_format":{"description":"Format of the audio; mp3 unless given.","enum":["mp3","opus","aac","flac","wav","pcm",null]},"speed":{"description":"1 is the voice's own.","type":["number","null"],"minimum":0.25,"maximum":4},"instructions":{"description":"How to speak.","type":["string","null"]},"stream_format":{"description":"The answer is always the audio itself, sent as it comes.","enum":["audio",null]}}};

function validate29(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/speech.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.model === undefined) && (missing0 = "model")) || ((data.input === undefined) && (missing0 = "input"))) || ((data.voice === undefined) && (missing0 = "voice"))){
validate29.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema35.required,parentSchema:schema35,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate29.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema35.properties.model,data:data0}];
return false;
}
}
else {
validate29.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema35.properties.model.type,parentSchema:schema35.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.input !== undefined){
let data1 = data.input;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate29.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema35.properties.input,data:data1}];
return false;
}
else {
if(func2(data1, 40000)){
validate29.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:40000,parentSchema:schema35.properties.input,data:data1}];
return false;
}
}
}
else {
validate29.errors = [{instancePath:instancePath+"/input",schemaPath:"#/properties/input/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema35.properties.input.type,parentSchema:schema35.properties.input,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.voice !== undefined){
let data2 = data.voice;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data2 === "string"){
if(!func2(data2, 0)){
validate29.errors = [{instancePath:instancePath+"/voice",schemaPath:"#/properties/voice/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema35.properties.voice,data:data2}];
return false;
}
}
else {
validate29.errors = [{instancePath:instancePath+"/voice",schemaPath:"#/properties/voice/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema35.properties.voice.type,parentSchema:schema35.properties.voice,data:data2}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.response_format !== undefined){
let data3 = data.response_format;
const _errs8 = errors;
if(!(((((((data3 === "mp3") || (data3 === "opus")) || (data3 === "aac")) || (data3 === "flac")) || (data3 === "wav")) || (data3 === "pcm")) || (data3 === null))){
validate29.errors = [{instancePath:instancePath+"/response_format",schemaPath:"#/properties/response_format/enum",keyword:"enum",params:{allowedValues: schema35.properties.response_format.enum},message:"must be equal to one of the allowed values",schema:schema35.properties.response_format.enum,parentSchema:schema35.properties.response_format,data:data3}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.speed !== undefined){
let data4 = data.speed;
const _errs9 = errors;
if((!((typeof data4 == "number") && (isFinite(data4)))) && (data4 !== null)){
validate29.errors = [{instancePath:instancePath+"/speed",schemaPath:"#/properties/speed/type",keyword:"type",params:{type: schema35.properties.speed.type},message:"must be number,null",schema:schema35.properties.speed.type,parentSchema:schema35.properties.speed,data:data4}];
return false;
}
if(errors === _errs9){
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 4 || isNaN(data4)){
validate29.errors = [{instancePath:instancePath+"/speed",schemaPath:"#/properties/speed/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4},message:"must be <= 4",schema:4,parentSchema:schema35.properties.speed,data:data4}];
return false;
}
else {
if(data4 < 0.25 || isNaN(data4)){
validate29.errors = [{instancePath:instancePath+"/speed",schemaPath:"#/properties/speed/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0.25},message:"must be >= 0.25",schema:0.25,parentSchema:schema35.properties.speed,data:data4}];
return false;
}
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.instructions !== undefined){
let data5 = data.instructions;
const _errs11 = errors;
if((typeof data5 !== "string") && (data5 !== null)){
validate29.errors = [{instancePath:instancePath+"/instructions",schemaPath:"#/properties/instructions/type",keyword:"type",params:{type: schema35.properties.instructions.type},message:"must be string,null",schema:schema35.properties.instructions.type,parentSchema:schema35.properties.instructions,data:data5}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream_format !== undefined){
let data6 = data.stream_format;
const _errs13 = errors;
if(!((data6 === "audio") || (data6 === null))){
validate29.errors = [{instancePath:instancePath+"/stream_format",schemaPath:"#/properties/stream_format/enum",keyword:"enum",params:{allowedValues: schema35.properties.stream_format.enum},message:"must be equal to one of the allowed values",schema:schema35.properties.stream_format.enum,parentSchema:schema35.properties.stream_format,data:data6}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate29.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema35.type,parentSchema:schema35,data}];
return false;
}
}
validate29.errors = vErrors;
return errors === 0;
}

export const transcription = validate30;
const schema36 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/transcription.schema.json","title":"TranscriptionForm","description":"Text fields of the form of POST /v1/audio/transcriptions, beside its file. Unknown fields are allowed: they travel to the upstream.","type":"object","additionalProperties":true,"required":["model"],"properties":{"model":{"description":"Identifier of a transcription model.","type":"string","minLength":1},"language":{"description":"Language of the audio, ISO 639-1.","type":"string"},"prompt":{"description":"Text that the audio follows, or words to expect.","type":"string"},"response_format":{"description":"Format of the answer; json unless given.","enum":["json","text","srt","vtt","verbose_json"]},"temperature":{"description":"A decimal number: the sampling temperature.","type":"string","pattern":"^(?:[0-9]{1,3}(?:[.][0-9]{0,20})?|[.][0-9]{1,20})$"},"timestamp_granularities[]":{"description":"What verbose_json gives times for.","type":"array","items":{"enum":["word","segment"]}},"stream":{"description":"The answer is always sent whole.","enum":["true","false"]}}};
const pattern0 = new RegExp("^(?:[0-9]{1,3}(?:[.][0-9]{0,20})?|[.][0-9]{1,20})$", "u");

function validate30(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/transcription.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.model === undefined) && (missing0 = "model")){
validate30.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema36.required,parentSchema:schema36,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate30.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema36.properties.model,data:data0}];
return false;
}
}
else {
validate30.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.model.type,parentSchema:schema36.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.language !== undefined){
let data1 = data.language;
const _errs4 = errors;
if(typeof data1 !== "string"){
validate30.errors = [{instancePath:instancePath+"/language",schemaPath:"#/properties/language/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.language.type,parentSchema:schema36.properties.language,data:data1}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.prompt !== undefined){
let data2 = data.prompt;
const _errs6 = errors;
if(typeof data2 !== "string"){
validate30.errors = [{instancePath:instancePath+"/prompt",schemaPath:"#/properties/prompt/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.prompt.type,parentSchema:schema36.properties.prompt,data:data2}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.response_format !== undefined){
let data3 = data.response_format;
const _errs8 = errors;
if(!(((((data3 === "json") || (data3 === "text")) || (data3 === "srt")) || (data3 === "vtt")) || (data3 === "verbose_json"))){
validate30.errors = [{instancePath:instancePath+"/response_format",schemaPath:"#/properties/response_format/enum",keyword:"enum",params:{allowedValues: schema36.properties.response_format.enum},message:"must be equal to one of the allowed values",schema:schema36.properties.response_format.enum,parentSchema:schema36.properties.response_format,data:data3}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.temperature !== undefined){
let data4 = data.temperature;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 === "string"){
if(!pattern0.test(data4)){
validate30.errors = [{instancePath:instancePath+"/temperature",schemaPath:"#/properties/temperature/pattern",keyword:"pattern",params:{pattern: "^(?:[0-9]{1,3}(?:[.][0-9]{0,20})?|[.][0-9]{1,20})$"},message:"must match pattern \""+"^(?:[0-9]{1,3}(?:[.][0-9]{0,20})?|[.][0-9]{1,20})$"+"\"",schema:"^(?:[0-9]{1,3}(?:[.][0-9]{0,20})?|[.][0-9]{1,20})$",parentSchema:schema36.properties.temperature,data:data4}];
return false;
}
}
else {
validate30.errors = [{instancePath:instancePath+"/temperature",schemaPath:"#/properties/temperature/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.temperature.type,parentSchema:schema36.properties.temperature,data:data4}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data["timestamp_granularities[]"] !== undefined){
let data5 = data["timestamp_granularities[]"];
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data5)){
var valid1 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
let data6 = data5[i0];
const _errs13 = errors;
if(!((data6 === "word") || (data6 === "segment"))){
validate30.errors = [{instancePath:instancePath+"/timestamp_granularities[]/" + i0,schemaPath:"#/properties/timestamp_granularities%5B%5D/items/enum",keyword:"enum",params:{allowedValues: schema36.properties["timestamp_granularities[]"].items.enum},message:"must be equal to one of the allowed values",schema:schema36.properties["timestamp_granularities[]"].items.enum,parentSchema:schema36.properties["timestamp_granularities[]"].items,data:data6}];
return false;
}
var valid1 = _errs13 === errors;
if(!valid1){
break;
}
}
}
else {
validate30.errors = [{instancePath:instancePath+"/timestamp_granularities[]",schemaPath:"#/properties/timestamp_granularities%5B%5D/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema36.properties["timestamp_granularities[]"].type,parentSchema:schema36.properties["timestamp_granularities[]"],data:data5}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream !== undefined){
let data7 = data.stream;
const _errs14 = errors;
if(!((data7 === "true") || (data7 === "false"))){
validate30.errors = [{instancePath:instancePath+"/stream",schemaPath:"#/properties/stream/enum",keyword:"enum",params:{allowedValues: schema36.properties.stream.enum},message:"must be equal to one of the allowed values",schema:schema36.properties.stream.enum,parentSchema:schema36.properties.stream,data:data7}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate30.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema36.type,parentSchema:schema36,data}];
return false;
}
}
validate30.errors = vErrors;
return errors === 0;
}

export const image = validate31;
const schema37 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/api/image.schema.json","title":"ImageRequest","description":"Body of POST /v1/images/generations. Unknown fields are allowed: they travel to the upstream.","type":"object","additionalProperties":true,"required":["model","prompt"],"properties":{"model":{"description":"Identifier of an image model.","type":"string","minLength":1},"prompt":{"description":"What the image shows.","type":"string","minLength":1,"maxLength":32000},"n":{"description":"Number of images; 1 unless given.","type":["integer","null"],"minimum":1,"maximum":10},"size":{"description":"WIDTHxHEIGHT in pixels, or auto.","type":["string","null"],"pattern":"^(?:auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$"},"width":{"description":"In pixels; with height another way to write size.","type":["integer","null"],"minimum":1,"maximum":16384},"height":{"description":"In pixels; with width another way to write size.","type":["integer","null"],"minimum":1,"maximum":16384},"response_format":{"description":"Where the image is found in the answer: url, or b64_json, which base64 is another name of.","enum":["url","b64_json","base64",null]},"quality":{"description":"Quality of the image.","type":["string","null"]},"style":{"description":"Style of the image.","type":["string","null"]},"background":{"description":"Whether the background is transparent.","type":["string","null"]},"output_format":{"description":"File format of the image.","type":["string","null"]},"output_compression":{"description":"Compression in per cent.","type":["integer","null"]},"moderation":{"description":"How strictly the provider moderates.","type":["string","null"]},"stream":{"description":"The answer is always sent whole: not true.","type":["boolean","null"]},"user":{"description":"Identifier of the end user.","type":["string","null"]}}};
const pattern1 = new RegExp("^(?:auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$", "u");

function validate31(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/api/image.schema.json" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.model === undefined) && (missing0 = "model")) || ((data.prompt === undefined) && (missing0 = "prompt"))){
validate31.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema37.required,parentSchema:schema37,data}];
return false;
}
else {
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate31.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema37.properties.model,data:data0}];
return false;
}
}
else {
validate31.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema37.properties.model.type,parentSchema:schema37.properties.model,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.prompt !== undefined){
let data1 = data.prompt;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate31.errors = [{instancePath:instancePath+"/prompt",schemaPath:"#/properties/prompt/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema37.properties.prompt,data:data1}];
return false;
}
else {
if(func2(data1, 32000)){
validate31.errors = [{instancePath:instancePath+"/prompt",schemaPath:"#/properties/prompt/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:32000,parentSchema:schema37.properties.prompt,data:data1}];
return false;
}
}
}
else {
validate31.errors = [{instancePath:instancePath+"/prompt",schemaPath:"#/properties/prompt/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema37.properties.prompt.type,parentSchema:schema37.properties.prompt,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.n !== undefined){
let data2 = data.n;
const _errs6 = errors;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (data2 !== null)){
validate31.errors = [{instancePath:instancePath+"/n",schemaPath:"#/properties/n/type",keyword:"type",params:{type: schema37.properties.n.type},message:"must be integer,null",schema:schema37.properties.n.type,parentSchema:schema37.properties.n,data:data2}];
return false;
}
if(errors === _errs6){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 10 || isNaN(data2)){
validate31.errors = [{instancePath:instancePath+"/n",schemaPath:"#/properties/n/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10},message:"must be <= 10",schema:10,parentSchema:schema37.properties.n,data:data2}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate31.errors = [{instancePath:instancePath+"/n",schemaPath:"#/properties/n/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema37.properties.n,data:data2}];
return false;
}
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.size !== undefined){
let data3 = data.size;
const _errs8 = errors;
if((typeof data3 !== "string") && (data3 !== null)){
validate31.errors = [{instancePath:instancePath+"/size",schemaPath:"#/properties/size/type",keyword:"type",params:{type: schema37.properties.size.type},message:"must be string,null",schema:schema37.properties.size.type,parentSchema:schema37.properties.size,data:data3}];
return false;
}
if(errors === _errs8){
if(typeof data3 === "string"){
if(!pattern1.test(data3)){
validate31.errors = [{instancePath:instancePath+"/size",schemaPath:"#/properties/size/pattern",keyword:"pattern",params:{pattern: "^(?:auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$"},message:"must match pattern \""+"^(?:auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$"+"\"",schema:"^(?:auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$",parentSchema:schema37.properties.size,data:data3}];
return false;
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.width !== undefined){
let data4 = data.width;
const _errs10 = errors;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (data4 !== null)){
validate31.errors = [{instancePath:instancePath+"/width",schemaPath:"#/properties/width/type",keyword:"type",params:{type: schema37.properties.width.type},message:"must be integer,null",schema:schema37.properties.width.type,parentSchema:schema37.properties.width,data:data4}];
return false;
}
if(errors === _errs10){
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 16384 || isNaN(data4)){
validate31.errors = [{instancePath:instancePath+"/width",schemaPath:"#/properties/width/maximum",keyword:"maximum",params:{comparison: "<=", limit: 16384},message:"must be <= 16384",schema:16384,parentSchema:schema37.properties.width,data:data4}];
return false;
}
else {
if(data4 < 1 || isNaN(data4)){
validate31.errors = [{instancePath:instancePath+"/width",schemaPath:"#/properties/width/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema37.properties.width,data:data4}];
return false;
}
}
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.height !== undefined){
let data5 = data.height;
const _errs12 = errors;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (data5 !== null)){
validate31.errors = [{instancePath:instancePath+"/height",schemaPath:"#/properties/height/type",keyword:"type",params:{type: schema37.properties.height.type},message:"must be integer,null",schema:schema37.properties.height.type,parentSchema:schema37.properties.height,data:data5}];
return false;
}
if(errors === _errs12){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 16384 || isNaN(data5)){
validate31.errors = [{instancePath:instancePath+"/height",schemaPath:"#/properties/height/maximum",keyword:"maximum",params:{comparison: "<=", limit: 16384},message:"must be <= 16384",schema:16384,parentSchema:schema37.properties.height,data:data5}];
return false;
}
else {
if(data5 < 1 || isNaN(data5)){
validate31.errors = [{instancePath:instancePath+"/height",schemaPath:"#/properties/height/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema37.properties.height,data:data5}];
return false;
}
}
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.response_format !== undefined){
let data6 = data.response_format;
const _errs14 = errors;
if(!((((data6 === "url") || (data6 === "b64_json")) || (data6 === "base64")) || (data6 === null))){
validate31.errors = [{instancePath:instancePath+"/response_format",schemaPath:"#/properties/response_format/enum",keyword:"enum",params:{allowedValues: schema37.properties.response_format.enum},message:"must be equal to one of the allowed values",schema:schema37.properties.response_format.enum,parentSchema:schema37.properties.response_format,data:data6}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.quality !== undefined){
let data7 = data.quality;
const _errs15 = errors;
if((typeof data7 !== "string") && (data7 !== null)){
validate31.errors = [{instancePath:instancePath+"/quality",schemaPath:"#/properties/quality/type",keyword:"type",params:{type: schema37.properties.quality.type},message:"must be string,null",schema:schema37.properties.quality.type,parentSchema:schema37.properties.quality,data:data7}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.style !== undefined){
let data8 = data.style;
const _errs17 = errors;
if((typeof data8 !== "string") && (data8 !== null)){
validate31.errors = [{instancePath:instancePath+"/style",schemaPath:"#/properties/style/type",keyword:"type",params:{type: schema37.properties.style.type},message:"must be string,null",schema:schema37.properties.style.type,parentSchema:schema37.properties.style,data:data8}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.background !== undefined){
let data9 = data.background;
const _errs19 = errors;
if((typeof data9 !== "string") && (data9 !== null)){
validate31.errors = [{instancePath:instancePath+"/background",schemaPath:"#/properties/background/type",keyword:"type",params:{type: schema37.properties.background.type},message:"must be string,null",schema:schema37.properties.background.type,parentSchema:schema37.properties.background,data:data9}];
return false;
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.output_format !== undefined){
let data10 = data.output_format;
const _errs21 = errors;
if((typeof data10 !== "string") && (data10 !== null)){
validate31.errors = [{instancePath:instancePath+"/output_format",schemaPath:"#/properties/output_format/type",keyword:"type",params:{type: schema37.properties.output_format.type},message:"must be string,null",schema:schema37.properties.output_format.type,parentSchema:schema37.properties.output_format,data:data10}];
return false;
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.output_compression !== undefined){
let data11 = data.output_compression;
const _errs23 = errors;
if((!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))) && (data11 !== null)){
validate31.errors = [{instancePath:instancePath+"/output_compression",schemaPath:"#/properties/output_compression/type",keyword:"type",params:{type: schema37.properties.output_compression.type},message:"must be integer,null",schema:schema37.properties.output_compression.type,parentSchema:schema37.properties.output_compression,data:data11}];
return false;
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.moderation !== undefined){
let data12 = data.moderation;
const _errs25 = errors;
if((typeof data12 !== "string") && (data12 !== null)){
validate31.errors = [{instancePath:instancePath+"/moderation",schemaPath:"#/properties/moderation/type",keyword:"type",params:{type: schema37.properties.moderation.type},message:"must be string,null",schema:schema37.properties.moderation.type,parentSchema:schema37.properties.moderation,data:data12}];
return false;
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream !== undefined){
let data13 = data.stream;
const _errs27 = errors;
if((typeof data13 !== "boolean") && (data13 !== null)){
validate31.errors = [{instancePath:instancePath+"/stream",schemaPath:"#/properties/stream/type",keyword:"type",params:{type: schema37.properties.stream.type},message:"must be boolean,null",schema:schema37.properties.stream.type,parentSchema:schema37.properties.stream,data:data13}];
return false;
}
var valid0 = _errs27 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
let data14 = data.user;
const _errs29 = errors;
if((typeof data14 !== "string") && (data14 !== null)){
validate31.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: schema37.properties.user.type},message:"must be string,null",schema:schema37.properties.user.type,parentSchema:schema37.properties.user,data:data14}];
return false;
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate31.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema37.type,parentSchema:schema37,data}];
return false;
}
}
validate31.errors = vErrors;
return errors === 0;
}

export const validators = { chat, messages, count_tokens, responses, embeddings, rerank, speech, transcription, image };
export const fields = {"chat":["model","messages","temperature","top_p","max_tokens","max_completion_tokens","stream","stream_options","tools","tool_choice","parallel_tool_calls","functions","function_call","n","stop","seed","frequency_penalty","presence_penalty","logit_bias","logprobs","top_logprobs","response_format","reasoning_effort","verbosity","modalities","audio","prediction","metadata","service_tier","store","web_search_options","prompt_cache_key","safety_identifier","user"],"messages":["model","messages","system","max_tokens","temperature","top_p","top_k","stop_sequences","stream","tools","tool_choice","thinking","output_config","metadata","service_tier"],"count_tokens":["model","messages","system","tools"],"responses":["model","input","instructions","stream","stream_options","max_output_tokens","temperature","top_p","tools","tool_choice","parallel_tool_calls","text","reasoning","include","top_logprobs","store","truncation","background","previous_response_id","conversation","prompt","metadata","service_tier","prompt_cache_key","safety_identifier","user"],"embeddings":["model","input","encoding_format","dimensions","user"],"rerank":["model","query","documents","top_n","return_documents"],"speech":["model","input","voice","response_format","speed","instructions","stream_format"],"transcription":["model","language","prompt","response_format","temperature","timestamp_granularities[]","stream"],"image":["model","prompt","n","size","width","height","response_format","quality","style","background","output_format","output_compression","moderation","stream","user"]};
