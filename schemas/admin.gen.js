// Generated from schemas/*.schema.json by `npm run types`. Do not edit.
import { isLonger } from "../src/kit/texts.ts";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
export const AuditQuery = validate22;
const schema7 = {"title":"AuditQuery","description":"Parameters of GET /admin/audit.","type":"object","additionalProperties":false,"required":[],"properties":{"limit":{"description":"Entries of a page; 50 when absent.","$ref":"#/definitions/PageLimit"},"cursor":{"description":"From next_cursor of the page before.","$ref":"#/definitions/PageCursor"}}};
const schema8 = {"title":"PageLimit","description":"Entries of a page; 50 when absent.","type":"integer","minimum":1,"maximum":200};

function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
validate23.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema8.type,parentSchema:schema8,data}];
return false;
}
if(errors === 0){
if((typeof data == "number") && (isFinite(data))){
if(data > 200 || isNaN(data)){
validate23.errors = [{instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 200},message:"must be <= 200",schema:200,parentSchema:schema8,data}];
return false;
}
else {
if(data < 1 || isNaN(data)){
validate23.errors = [{instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema8,data}];
return false;
}
}
}
}
validate23.errors = vErrors;
return errors === 0;
}

const schema9 = {"title":"PageCursor","description":"From next_cursor of the page before.","type":"string","minLength":1,"maxLength":512};
const func2 = isLonger;

function validate25(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(typeof data === "string"){
if(!func2(data, 0)){
validate25.errors = [{instancePath,schemaPath:"#/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema9,data}];
return false;
}
else {
if(func2(data, 512)){
validate25.errors = [{instancePath,schemaPath:"#/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:512,parentSchema:schema9,data}];
return false;
}
}
}
else {
validate25.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema9.type,parentSchema:schema9,data}];
return false;
}
}
validate25.errors = vErrors;
return errors === 0;
}


function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!((key0 === "limit") || (key0 === "cursor"))){
validate22.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema7,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.limit !== undefined){
const _errs2 = errors;
if(!(validate23(data.limit, {instancePath:instancePath+"/limit",parentData:data,parentDataProperty:"limit",rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cursor !== undefined){
const _errs3 = errors;
if(!(validate25(data.cursor, {instancePath:instancePath+"/cursor",parentData:data,parentDataProperty:"cursor",rootData}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
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
validate22.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema7.type,parentSchema:schema7,data}];
return false;
}
}
validate22.errors = vErrors;
return errors === 0;
}

export const RollbackRequest = validate27;
const schema10 = {"title":"RollbackRequest","description":"Body of POST /admin/rollback.","type":"object","additionalProperties":false,"required":[],"properties":{"to":{"description":"A hash or the beginning of one, or how many generations back; 1 when absent.","type":["string","integer"],"minimum":0,"maxLength":128}}};

function validate27(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(key0 === "to")){
validate27.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema10,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.to !== undefined){
let data0 = data.to;
const _errs2 = errors;
if((typeof data0 !== "string") && (!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0))))){
validate27.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: schema10.properties.to.type},message:"must be string,integer",schema:schema10.properties.to.type,parentSchema:schema10.properties.to,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
validate27.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema10.properties.to,data:data0}];
return false;
}
}
if(errors === _errs2){
if(typeof data0 === "string"){
if(func2(data0, 128)){
validate27.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:128,parentSchema:schema10.properties.to,data:data0}];
return false;
}
}
}
}
}
}
}
else {
validate27.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema10.type,parentSchema:schema10,data}];
return false;
}
}
validate27.errors = vErrors;
return errors === 0;
}

export const ConfigurationDiffQuery = validate28;
const schema11 = {"title":"ConfigurationDiffQuery","description":"Parameters of GET /admin/config/diff.","type":"object","additionalProperties":false,"required":["from"],"properties":{"from":{"description":"Hash of a kept generation, or the beginning of one.","type":"string","minLength":4,"maxLength":64},"to":{"description":"The same; what serves when absent.","type":"string","minLength":4,"maxLength":64}}};

function validate28(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.from === undefined) && (missing0 = "from")){
validate28.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema11.required,parentSchema:schema11,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!((key0 === "from") || (key0 === "to"))){
validate28.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema11,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.from !== undefined){
let data0 = data.from;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 3)){
validate28.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:4,parentSchema:schema11.properties.from,data:data0}];
return false;
}
else {
if(func2(data0, 64)){
validate28.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:64,parentSchema:schema11.properties.from,data:data0}];
return false;
}
}
}
else {
validate28.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.from.type,parentSchema:schema11.properties.from,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to !== undefined){
let data1 = data.to;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 3)){
validate28.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:4,parentSchema:schema11.properties.to,data:data1}];
return false;
}
else {
if(func2(data1, 64)){
validate28.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:64,parentSchema:schema11.properties.to,data:data1}];
return false;
}
}
}
else {
validate28.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.to.type,parentSchema:schema11.properties.to,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate28.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema11.type,parentSchema:schema11,data}];
return false;
}
}
validate28.errors = vErrors;
return errors === 0;
}

export const ExplainRequest = validate29;
const schema12 = {"title":"ExplainRequest","description":"Body of POST /admin/explain: about a request that might come, or with `request` about one of the decision log.","if":{"type":"object","required":["request"]},"then":{"$ref":"#/definitions/PastRequestQuestion"},"else":{"$ref":"#/definitions/NewRequestQuestion"}};
const schema13 = {"title":"PastRequestQuestion","description":"About a request of the decision log, which says what it was.","type":"object","additionalProperties":false,"required":["request"],"properties":{"request":{"description":"The id of a request, or its X-Request-Id.","type":"string","pattern":"."},"tier":{"description":"The plan; that of the time when absent.","type":"string"},"down":{"description":"Upstreams as if they could not be reached.","type":"array","items":{"type":"string"}},"open":{"description":"Upstreams as if their breakers were open, besides those that were left out then.","type":"array","items":{"type":"string"}}}};
const pattern0 = new RegExp(".", "u");

function validate30(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.request === undefined) && (missing0 = "request")){
validate30.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema13.required,parentSchema:schema13,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!((((key0 === "request") || (key0 === "tier")) || (key0 === "down")) || (key0 === "open"))){
validate30.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema13,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.request !== undefined){
let data0 = data.request;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!pattern0.test(data0)){
validate30.errors = [{instancePath:instancePath+"/request",schemaPath:"#/properties/request/pattern",keyword:"pattern",params:{pattern: "."},message:"must match pattern \""+"."+"\"",schema:".",parentSchema:schema13.properties.request,data:data0}];
return false;
}
}
else {
validate30.errors = [{instancePath:instancePath+"/request",schemaPath:"#/properties/request/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.request.type,parentSchema:schema13.properties.request,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tier !== undefined){
let data1 = data.tier;
const _errs4 = errors;
if(typeof data1 !== "string"){
validate30.errors = [{instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.tier.type,parentSchema:schema13.properties.tier,data:data1}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.down !== undefined){
let data2 = data.down;
const _errs6 = errors;
if(errors === _errs6){
if(Array.isArray(data2)){
var valid1 = true;
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
const _errs8 = errors;
if(typeof data3 !== "string"){
validate30.errors = [{instancePath:instancePath+"/down/" + i0,schemaPath:"#/properties/down/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.down.items.type,parentSchema:schema13.properties.down.items,data:data3}];
return false;
}
var valid1 = _errs8 === errors;
if(!valid1){
break;
}
}
}
else {
validate30.errors = [{instancePath:instancePath+"/down",schemaPath:"#/properties/down/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema13.properties.down.type,parentSchema:schema13.properties.down,data:data2}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.open !== undefined){
let data4 = data.open;
const _errs10 = errors;
if(errors === _errs10){
if(Array.isArray(data4)){
var valid2 = true;
const len1 = data4.length;
for(let i1=0; i1<len1; i1++){
let data5 = data4[i1];
const _errs12 = errors;
if(typeof data5 !== "string"){
validate30.errors = [{instancePath:instancePath+"/open/" + i1,schemaPath:"#/properties/open/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.open.items.type,parentSchema:schema13.properties.open.items,data:data5}];
return false;
}
var valid2 = _errs12 === errors;
if(!valid2){
break;
}
}
}
else {
validate30.errors = [{instancePath:instancePath+"/open",schemaPath:"#/properties/open/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema13.properties.open.type,parentSchema:schema13.properties.open,data:data4}];
return false;
}
}
var valid0 = _errs10 === errors;
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
validate30.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema13.type,parentSchema:schema13,data}];
return false;
}
}
validate30.errors = vErrors;
return errors === 0;
}

const schema14 = {"title":"NewRequestQuestion","description":"About a request that might come. One of `tier` and `user` is needed, except where there is only one plan and it may call every model.","type":"object","additionalProperties":false,"required":["model"],"properties":{"model":{"description":"As a client would ask for it.","type":"string"},"tier":{"description":"The plan; the user's when absent, or the only one.","type":"string"},"user":{"description":"Id or address of whose counters and credits it is to meet; somebody who has used nothing when absent.","type":"string"},"key":{"description":"Id of an API key of the user's that it would be sent with.","type":"string"},"endpoint":{"description":"Where it would be sent; where the model's kind is served when absent.","$ref":"#/definitions/InferenceEndpoint"},"stream":{"description":"Whether a stream is asked for.","type":"boolean"},"body":{"description":"Over the least body that the endpoint takes.","type":"object","additionalProperties":true},"down":{"description":"Upstreams as if they could not be reached.","type":"array","items":{"type":"string"}},"open":{"description":"Upstreams as if their breakers were open, besides those that are.","type":"array","items":{"type":"string"}},"prompt_tokens":{"description":"What the upstream will have counted of the prompt; by its size when absent.","type":"integer","minimum":0,"maximum":1000000},"output_tokens":{"description":"What the upstream will have counted of the answer; what is held when absent.","type":"integer","minimum":0,"maximum":1000000}}};
const func9 = Object.prototype.hasOwnProperty;
const schema15 = {"title":"InferenceEndpoint","description":"The gateway's name of an endpoint that models serve.","enum":["chat","messages","responses","embeddings","rerank","speech","transcription","image"]};

function validate33(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!((((((((data === "chat") || (data === "messages")) || (data === "responses")) || (data === "embeddings")) || (data === "rerank")) || (data === "speech")) || (data === "transcription")) || (data === "image"))){
validate33.errors = [{instancePath,schemaPath:"#/enum",keyword:"enum",params:{allowedValues: schema15.enum},message:"must be equal to one of the allowed values",schema:schema15.enum,parentSchema:schema15,data}];
return false;
}
validate33.errors = vErrors;
return errors === 0;
}


function validate32(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.model === undefined) && (missing0 = "model")){
validate32.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema14.required,parentSchema:schema14,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(func9.call(schema14.properties, key0))){
validate32.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema14,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.model !== undefined){
let data0 = data.model;
const _errs2 = errors;
if(typeof data0 !== "string"){
validate32.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.model.type,parentSchema:schema14.properties.model,data:data0}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tier !== undefined){
let data1 = data.tier;
const _errs4 = errors;
if(typeof data1 !== "string"){
validate32.errors = [{instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.tier.type,parentSchema:schema14.properties.tier,data:data1}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
let data2 = data.user;
const _errs6 = errors;
if(typeof data2 !== "string"){
validate32.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.user.type,parentSchema:schema14.properties.user,data:data2}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.key !== undefined){
let data3 = data.key;
const _errs8 = errors;
if(typeof data3 !== "string"){
validate32.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.key.type,parentSchema:schema14.properties.key,data:data3}];
return false;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.endpoint !== undefined){
const _errs10 = errors;
if(!(validate33(data.endpoint, {instancePath:instancePath+"/endpoint",parentData:data,parentDataProperty:"endpoint",rootData}))){
vErrors = vErrors === null ? validate33.errors : vErrors.concat(validate33.errors);
errors = vErrors.length;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stream !== undefined){
let data5 = data.stream;
const _errs11 = errors;
if(typeof data5 !== "boolean"){
validate32.errors = [{instancePath:instancePath+"/stream",schemaPath:"#/properties/stream/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema14.properties.stream.type,parentSchema:schema14.properties.stream,data:data5}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.body !== undefined){
let data6 = data.body;
const _errs13 = errors;
if(errors === _errs13){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
}
else {
validate32.errors = [{instancePath:instancePath+"/body",schemaPath:"#/properties/body/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema14.properties.body.type,parentSchema:schema14.properties.body,data:data6}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.down !== undefined){
let data7 = data.down;
const _errs16 = errors;
if(errors === _errs16){
if(Array.isArray(data7)){
var valid1 = true;
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
const _errs18 = errors;
if(typeof data8 !== "string"){
validate32.errors = [{instancePath:instancePath+"/down/" + i0,schemaPath:"#/properties/down/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.down.items.type,parentSchema:schema14.properties.down.items,data:data8}];
return false;
}
var valid1 = _errs18 === errors;
if(!valid1){
break;
}
}
}
else {
validate32.errors = [{instancePath:instancePath+"/down",schemaPath:"#/properties/down/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema14.properties.down.type,parentSchema:schema14.properties.down,data:data7}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.open !== undefined){
let data9 = data.open;
const _errs20 = errors;
if(errors === _errs20){
if(Array.isArray(data9)){
var valid2 = true;
const len1 = data9.length;
for(let i1=0; i1<len1; i1++){
let data10 = data9[i1];
const _errs22 = errors;
if(typeof data10 !== "string"){
validate32.errors = [{instancePath:instancePath+"/open/" + i1,schemaPath:"#/properties/open/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.open.items.type,parentSchema:schema14.properties.open.items,data:data10}];
return false;
}
var valid2 = _errs22 === errors;
if(!valid2){
break;
}
}
}
else {
validate32.errors = [{instancePath:instancePath+"/open",schemaPath:"#/properties/open/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema14.properties.open.type,parentSchema:schema14.properties.open,data:data9}];
return false;
}
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.prompt_tokens !== undefined){
let data11 = data.prompt_tokens;
const _errs24 = errors;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
validate32.errors = [{instancePath:instancePath+"/prompt_tokens",schemaPath:"#/properties/prompt_tokens/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema14.properties.prompt_tokens.type,parentSchema:schema14.properties.prompt_tokens,data:data11}];
return false;
}
if(errors === _errs24){
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 > 1000000 || isNaN(data11)){
validate32.errors = [{instancePath:instancePath+"/prompt_tokens",schemaPath:"#/properties/prompt_tokens/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema14.properties.prompt_tokens,data:data11}];
return false;
}
else {
if(data11 < 0 || isNaN(data11)){
validate32.errors = [{instancePath:instancePath+"/prompt_tokens",schemaPath:"#/properties/prompt_tokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema14.properties.prompt_tokens,data:data11}];
return false;
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
if(data.output_tokens !== undefined){
let data12 = data.output_tokens;
const _errs26 = errors;
if(!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))){
validate32.errors = [{instancePath:instancePath+"/output_tokens",schemaPath:"#/properties/output_tokens/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema14.properties.output_tokens.type,parentSchema:schema14.properties.output_tokens,data:data12}];
return false;
}
if(errors === _errs26){
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 > 1000000 || isNaN(data12)){
validate32.errors = [{instancePath:instancePath+"/output_tokens",schemaPath:"#/properties/output_tokens/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema14.properties.output_tokens,data:data12}];
return false;
}
else {
if(data12 < 0 || isNaN(data12)){
validate32.errors = [{instancePath:instancePath+"/output_tokens",schemaPath:"#/properties/output_tokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema14.properties.output_tokens,data:data12}];
return false;
}
}
}
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
}
}
}
}
else {
validate32.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema14.type,parentSchema:schema14,data}];
return false;
}
}
validate32.errors = vErrors;
return errors === 0;
}


function validate29(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = true;
const _errs1 = errors;
if(errors === _errs1){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.request === undefined) && (missing0 = "request")){
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
else {
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
var _valid0 = _errs1 === errors;
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs3 = errors;
if(!(validate30(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
var _valid0 = _errs3 === errors;
valid0 = _valid0;
ifClause0 = "then";
}
else {
const _errs4 = errors;
if(!(validate32(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var _valid0 = _errs4 === errors;
valid0 = _valid0;
ifClause0 = "else";
}
if(!valid0){
const err2 = {instancePath,schemaPath:"#/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema",schema:schema12.if,parentSchema:schema12,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
validate29.errors = vErrors;
return false;
}
validate29.errors = vErrors;
return errors === 0;
}

export const LedgerQuery = validate36;
const schema16 = {"title":"LedgerQuery","description":"Parameters of GET /admin/ledger.","type":"object","additionalProperties":false,"required":[],"properties":{"user":{"description":"Id of a user.","type":"string","minLength":1,"maxLength":256},"key":{"description":"Id of an API key.","type":"string","minLength":1,"maxLength":256},"model":{"description":"Route id of a model.","type":"string","minLength":1,"maxLength":256},"upstream":{"description":"Name of an upstream.","type":"string","minLength":1,"maxLength":256},"outcome":{"description":"How requests ended.","enum":["served","refused","failed","client_fault","upstream_cut","gateway_error","client_gone","killed","shutdown"]},"tag":{"description":"`name:value` of a tag.","type":"string","pattern":"^[^:]+:","maxLength":600},"request_id":{"description":"Of one request.","type":"string","minLength":1,"maxLength":256},"from":{"description":"Recorded at this time or later; of a date, at its beginning in UTC.","type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},"to":{"description":"Recorded before.","type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},"limit":{"description":"Entries of a page; 50 when absent.","type":"integer","minimum":1,"maximum":1000},"cursor":{"description":"From next_cursor of the page before, with the same filter.","$ref":"#/definitions/PageCursor"}}};
const pattern1 = new RegExp("^[^:]+:", "u");
const pattern2 = new RegExp("^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$", "u");

function validate36(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(func9.call(schema16.properties, key0))){
validate36.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema16,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.user !== undefined){
let data0 = data.user;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate36.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema16.properties.user,data:data0}];
return false;
}
else {
if(func2(data0, 256)){
validate36.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema16.properties.user,data:data0}];
return false;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.user.type,parentSchema:schema16.properties.user,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.key !== undefined){
let data1 = data.key;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate36.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema16.properties.key,data:data1}];
return false;
}
else {
if(func2(data1, 256)){
validate36.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema16.properties.key,data:data1}];
return false;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.key.type,parentSchema:schema16.properties.key,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.model !== undefined){
let data2 = data.model;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data2 === "string"){
if(!func2(data2, 0)){
validate36.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema16.properties.model,data:data2}];
return false;
}
else {
if(func2(data2, 256)){
validate36.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema16.properties.model,data:data2}];
return false;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.model.type,parentSchema:schema16.properties.model,data:data2}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.upstream !== undefined){
let data3 = data.upstream;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data3 === "string"){
if(!func2(data3, 0)){
validate36.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema16.properties.upstream,data:data3}];
return false;
}
else {
if(func2(data3, 256)){
validate36.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema16.properties.upstream,data:data3}];
return false;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.upstream.type,parentSchema:schema16.properties.upstream,data:data3}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.outcome !== undefined){
let data4 = data.outcome;
const _errs10 = errors;
if(!(((((((((data4 === "served") || (data4 === "refused")) || (data4 === "failed")) || (data4 === "client_fault")) || (data4 === "upstream_cut")) || (data4 === "gateway_error")) || (data4 === "client_gone")) || (data4 === "killed")) || (data4 === "shutdown"))){
validate36.errors = [{instancePath:instancePath+"/outcome",schemaPath:"#/properties/outcome/enum",keyword:"enum",params:{allowedValues: schema16.properties.outcome.enum},message:"must be equal to one of the allowed values",schema:schema16.properties.outcome.enum,parentSchema:schema16.properties.outcome,data:data4}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tag !== undefined){
let data5 = data.tag;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 === "string"){
if(!pattern1.test(data5)){
validate36.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/pattern",keyword:"pattern",params:{pattern: "^[^:]+:"},message:"must match pattern \""+"^[^:]+:"+"\"",schema:"^[^:]+:",parentSchema:schema16.properties.tag,data:data5}];
return false;
}
else {
if(func2(data5, 600)){
validate36.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:600,parentSchema:schema16.properties.tag,data:data5}];
return false;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.tag.type,parentSchema:schema16.properties.tag,data:data5}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.request_id !== undefined){
let data6 = data.request_id;
const _errs13 = errors;
if(errors === _errs13){
if(typeof data6 === "string"){
if(!func2(data6, 0)){
validate36.errors = [{instancePath:instancePath+"/request_id",schemaPath:"#/properties/request_id/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema16.properties.request_id,data:data6}];
return false;
}
else {
if(func2(data6, 256)){
validate36.errors = [{instancePath:instancePath+"/request_id",schemaPath:"#/properties/request_id/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema16.properties.request_id,data:data6}];
return false;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/request_id",schemaPath:"#/properties/request_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.request_id.type,parentSchema:schema16.properties.request_id,data:data6}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from !== undefined){
let data7 = data.from;
const _errs15 = errors;
if(errors === _errs15){
if(typeof data7 === "string"){
if(!pattern2.test(data7)){
validate36.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"+"\"",schema:"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$",parentSchema:schema16.properties.from,data:data7}];
return false;
}
}
else {
validate36.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.from.type,parentSchema:schema16.properties.from,data:data7}];
return false;
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to !== undefined){
let data8 = data.to;
const _errs17 = errors;
if(errors === _errs17){
if(typeof data8 === "string"){
if(!pattern2.test(data8)){
validate36.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"+"\"",schema:"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$",parentSchema:schema16.properties.to,data:data8}];
return false;
}
}
else {
validate36.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.to.type,parentSchema:schema16.properties.to,data:data8}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limit !== undefined){
let data9 = data.limit;
const _errs19 = errors;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
validate36.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema16.properties.limit.type,parentSchema:schema16.properties.limit,data:data9}];
return false;
}
if(errors === _errs19){
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 > 1000 || isNaN(data9)){
validate36.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000",schema:1000,parentSchema:schema16.properties.limit,data:data9}];
return false;
}
else {
if(data9 < 1 || isNaN(data9)){
validate36.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema16.properties.limit,data:data9}];
return false;
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
if(data.cursor !== undefined){
const _errs21 = errors;
if(!(validate25(data.cursor, {instancePath:instancePath+"/cursor",parentData:data,parentDataProperty:"cursor",rootData}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
}
var valid0 = _errs21 === errors;
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
else {
validate36.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema16.type,parentSchema:schema16,data}];
return false;
}
}
validate36.errors = vErrors;
return errors === 0;
}

export const LedgerExportQuery = validate38;
const schema17 = {"title":"LedgerExportQuery","description":"Parameters of GET /admin/ledger/export.","type":"object","additionalProperties":false,"required":[],"properties":{"format":{"description":"`ndjson` when absent: an entry of GET /admin/ledger a line.","enum":["ndjson","csv"]},"user":{"description":"Id of a user.","type":"string","minLength":1,"maxLength":256},"key":{"description":"Id of an API key.","type":"string","minLength":1,"maxLength":256},"model":{"description":"Route id of a model.","type":"string","minLength":1,"maxLength":256},"upstream":{"description":"Name of an upstream.","type":"string","minLength":1,"maxLength":256},"outcome":{"description":"How requests ended.","enum":["served","refused","failed","client_fault","upstream_cut","gateway_error","client_gone","killed","shutdown"]},"tag":{"description":"`name:value` of a tag.","type":"string","pattern":"^[^:]+:","maxLength":600},"request_id":{"description":"Of one request.","type":"string","minLength":1,"maxLength":256},"from":{"description":"Recorded at this time or later; of a date, at its beginning in UTC.","type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},"to":{"description":"Recorded before.","type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"}}};

function validate38(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(func9.call(schema17.properties, key0))){
validate38.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema17,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.format !== undefined){
let data0 = data.format;
const _errs2 = errors;
if(!((data0 === "ndjson") || (data0 === "csv"))){
validate38.errors = [{instancePath:instancePath+"/format",schemaPath:"#/properties/format/enum",keyword:"enum",params:{allowedValues: schema17.properties.format.enum},message:"must be equal to one of the allowed values",schema:schema17.properties.format.enum,parentSchema:schema17.properties.format,data:data0}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
let data1 = data.user;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate38.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.properties.user,data:data1}];
return false;
}
else {
if(func2(data1, 256)){
validate38.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema17.properties.user,data:data1}];
return false;
}
}
}
else {
validate38.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.user.type,parentSchema:schema17.properties.user,data:data1}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.key !== undefined){
let data2 = data.key;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 === "string"){
if(!func2(data2, 0)){
validate38.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.properties.key,data:data2}];
return false;
}
else {
if(func2(data2, 256)){
validate38.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema17.properties.key,data:data2}];
return false;
}
}
}
else {
validate38.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.key.type,parentSchema:schema17.properties.key,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.model !== undefined){
let data3 = data.model;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 === "string"){
if(!func2(data3, 0)){
validate38.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.properties.model,data:data3}];
return false;
}
else {
if(func2(data3, 256)){
validate38.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema17.properties.model,data:data3}];
return false;
}
}
}
else {
validate38.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.model.type,parentSchema:schema17.properties.model,data:data3}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.upstream !== undefined){
let data4 = data.upstream;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 === "string"){
if(!func2(data4, 0)){
validate38.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.properties.upstream,data:data4}];
return false;
}
else {
if(func2(data4, 256)){
validate38.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema17.properties.upstream,data:data4}];
return false;
}
}
}
else {
validate38.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.upstream.type,parentSchema:schema17.properties.upstream,data:data4}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.outcome !== undefined){
let data5 = data.outcome;
const _errs11 = errors;
if(!(((((((((data5 === "served") || (data5 === "refused")) || (data5 === "failed")) || (data5 === "client_fault")) || (data5 === "upstream_cut")) || (data5 === "gateway_error")) || (data5 === "client_gone")) || (data5 === "killed")) || (data5 === "shutdown"))){
validate38.errors = [{instancePath:instancePath+"/outcome",schemaPath:"#/properties/outcome/enum",keyword:"enum",params:{allowedValues: schema17.properties.outcome.enum},message:"must be equal to one of the allowed values",schema:schema17.properties.outcome.enum,parentSchema:schema17.properties.outcome,data:data5}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tag !== undefined){
let data6 = data.tag;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data6 === "string"){
if(!pattern1.test(data6)){
validate38.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/pattern",keyword:"pattern",params:{pattern: "^[^:]+:"},message:"must match pattern \""+"^[^:]+:"+"\"",schema:"^[^:]+:",parentSchema:schema17.properties.tag,data:data6}];
return false;
}
else {
if(func2(data6, 600)){
validate38.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:600,parentSchema:schema17.properties.tag,data:data6}];
return false;
}
}
}
else {
validate38.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.tag.type,parentSchema:schema17.properties.tag,data:data6}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.request_id !== undefined){
let data7 = data.request_id;
const _errs14 = errors;
if(errors === _errs14){
if(typeof data7 === "string"){
if(!func2(data7, 0)){
validate38.errors = [{instancePath:instancePath+"/request_id",schemaPath:"#/properties/request_id/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema17.properties.request_id,data:data7}];
return false;
}
else {
if(func2(data7, 256)){
validate38.errors = [{instancePath:instancePath+"/request_id",schemaPath:"#/properties/request_id/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema17.properties.request_id,data:data7}];
return false;
}
}
}
else {
validate38.errors = [{instancePath:instancePath+"/request_id",schemaPath:"#/properties/request_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.request_id.type,parentSchema:schema17.properties.request_id,data:data7}];
return false;
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from !== undefined){
let data8 = data.from;
const _errs16 = errors;
if(errors === _errs16){
if(typeof data8 === "string"){
if(!pattern2.test(data8)){
validate38.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"+"\"",schema:"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$",parentSchema:schema17.properties.from,data:data8}];
return false;
}
}
else {
validate38.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.from.type,parentSchema:schema17.properties.from,data:data8}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to !== undefined){
let data9 = data.to;
const _errs18 = errors;
if(errors === _errs18){
if(typeof data9 === "string"){
if(!pattern2.test(data9)){
validate38.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"+"\"",schema:"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$",parentSchema:schema17.properties.to,data:data9}];
return false;
}
}
else {
validate38.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.to.type,parentSchema:schema17.properties.to,data:data9}];
return false;
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
}
}
}
}
}
}
else {
validate38.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema17.type,parentSchema:schema17,data}];
return false;
}
}
validate38.errors = vErrors;
return errors === 0;
}

export const UsageQuery = validate39;
const schema18 = {"title":"UsageQuery","description":"Parameters of GET /admin/usage.","type":"object","additionalProperties":false,"required":[],"properties":{"per":{"description":"`day` when absent.","enum":["hour","day"]},"by":{"description":"What has a row of its own, with commas: model, upstream, tier, user, key. Nothing when absent: one row an hour or day.","type":"string","pattern":"^(model|upstream|tier|user|key)(,(model|upstream|tier|user|key))*$","maxLength":64},"from":{"description":"Of hours or days that begin then or later; 30 days ago when absent.","type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},"to":{"description":"Of those that begin before; now when absent.","type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},"user":{"description":"Id of a user.","type":"string","minLength":1,"maxLength":256},"key":{"description":"Id of an API key.","type":"string","minLength":1,"maxLength":256},"model":{"description":"Route id of a model.","type":"string","minLength":1,"maxLength":256},"upstream":{"description":"Name of an upstream.","type":"string","minLength":1,"maxLength":256},"limit":{"description":"Rows of a page; 50 when absent.","type":"integer","minimum":1,"maximum":1000},"cursor":{"description":"From next_cursor of the page before, with the same filter.","$ref":"#/definitions/PageCursor"}}};
const pattern7 = new RegExp("^(model|upstream|tier|user|key)(,(model|upstream|tier|user|key))*$", "u");

function validate39(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(func9.call(schema18.properties, key0))){
validate39.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema18,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.per !== undefined){
let data0 = data.per;
const _errs2 = errors;
if(!((data0 === "hour") || (data0 === "day"))){
validate39.errors = [{instancePath:instancePath+"/per",schemaPath:"#/properties/per/enum",keyword:"enum",params:{allowedValues: schema18.properties.per.enum},message:"must be equal to one of the allowed values",schema:schema18.properties.per.enum,parentSchema:schema18.properties.per,data:data0}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.by !== undefined){
let data1 = data.by;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 === "string"){
if(!pattern7.test(data1)){
validate39.errors = [{instancePath:instancePath+"/by",schemaPath:"#/properties/by/pattern",keyword:"pattern",params:{pattern: "^(model|upstream|tier|user|key)(,(model|upstream|tier|user|key))*$"},message:"must match pattern \""+"^(model|upstream|tier|user|key)(,(model|upstream|tier|user|key))*$"+"\"",schema:"^(model|upstream|tier|user|key)(,(model|upstream|tier|user|key))*$",parentSchema:schema18.properties.by,data:data1}];
return false;
}
else {
if(func2(data1, 64)){
validate39.errors = [{instancePath:instancePath+"/by",schemaPath:"#/properties/by/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:64,parentSchema:schema18.properties.by,data:data1}];
return false;
}
}
}
else {
validate39.errors = [{instancePath:instancePath+"/by",schemaPath:"#/properties/by/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.by.type,parentSchema:schema18.properties.by,data:data1}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from !== undefined){
let data2 = data.from;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 === "string"){
if(!pattern2.test(data2)){
validate39.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"+"\"",schema:"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$",parentSchema:schema18.properties.from,data:data2}];
return false;
}
}
else {
validate39.errors = [{instancePath:instancePath+"/from",schemaPath:"#/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.from.type,parentSchema:schema18.properties.from,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to !== undefined){
let data3 = data.to;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 === "string"){
if(!pattern2.test(data3)){
validate39.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"+"\"",schema:"^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$",parentSchema:schema18.properties.to,data:data3}];
return false;
}
}
else {
validate39.errors = [{instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.to.type,parentSchema:schema18.properties.to,data:data3}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
let data4 = data.user;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 === "string"){
if(!func2(data4, 0)){
validate39.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.properties.user,data:data4}];
return false;
}
else {
if(func2(data4, 256)){
validate39.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema18.properties.user,data:data4}];
return false;
}
}
}
else {
validate39.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.user.type,parentSchema:schema18.properties.user,data:data4}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.key !== undefined){
let data5 = data.key;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 === "string"){
if(!func2(data5, 0)){
validate39.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.properties.key,data:data5}];
return false;
}
else {
if(func2(data5, 256)){
validate39.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema18.properties.key,data:data5}];
return false;
}
}
}
else {
validate39.errors = [{instancePath:instancePath+"/key",schemaPath:"#/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.key.type,parentSchema:schema18.properties.key,data:data5}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.model !== undefined){
let data6 = data.model;
const _errs13 = errors;
if(errors === _errs13){
if(typeof data6 === "string"){
if(!func2(data6, 0)){
validate39.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.properties.model,data:data6}];
return false;
}
else {
if(func2(data6, 256)){
validate39.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema18.properties.model,data:data6}];
return false;
}
}
}
else {
validate39.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.model.type,parentSchema:schema18.properties.model,data:data6}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.upstream !== undefined){
let data7 = data.upstream;
const _errs15 = errors;
if(errors === _errs15){
if(typeof data7 === "string"){
if(!func2(data7, 0)){
validate39.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema18.properties.upstream,data:data7}];
return false;
}
else {
if(func2(data7, 256)){
validate39.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:256,parentSchema:schema18.properties.upstream,data:data7}];
return false;
}
}
}
else {
validate39.errors = [{instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.upstream.type,parentSchema:schema18.properties.upstream,data:data7}];
return false;
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limit !== undefined){
let data8 = data.limit;
const _errs17 = errors;
if(!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))){
validate39.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema18.properties.limit.type,parentSchema:schema18.properties.limit,data:data8}];
return false;
}
if(errors === _errs17){
if((typeof data8 == "number") && (isFinite(data8))){
if(data8 > 1000 || isNaN(data8)){
validate39.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000",schema:1000,parentSchema:schema18.properties.limit,data:data8}];
return false;
}
else {
if(data8 < 1 || isNaN(data8)){
validate39.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema18.properties.limit,data:data8}];
return false;
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
if(data.cursor !== undefined){
const _errs19 = errors;
if(!(validate25(data.cursor, {instancePath:instancePath+"/cursor",parentData:data,parentDataProperty:"cursor",rootData}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
}
var valid0 = _errs19 === errors;
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
validate39.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema18.type,parentSchema:schema18,data}];
return false;
}
}
validate39.errors = vErrors;
return errors === 0;
}

export const AdminSessionRequest = validate41;
const schema19 = {"title":"AdminSessionRequest","description":"Body of POST /admin/session.","type":"object","additionalProperties":false,"required":["token"],"properties":{"token":{"description":"One of the tokens of server.admin.","type":"string","minLength":1,"maxLength":4096}}};

function validate41(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.token === undefined) && (missing0 = "token")){
validate41.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema19.required,parentSchema:schema19,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(key0 === "token")){
validate41.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema19,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.token !== undefined){
let data0 = data.token;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate41.errors = [{instancePath:instancePath+"/token",schemaPath:"#/properties/token/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema19.properties.token,data:data0}];
return false;
}
else {
if(func2(data0, 4096)){
validate41.errors = [{instancePath:instancePath+"/token",schemaPath:"#/properties/token/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:4096,parentSchema:schema19.properties.token,data:data0}];
return false;
}
}
}
else {
validate41.errors = [{instancePath:instancePath+"/token",schemaPath:"#/properties/token/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema19.properties.token.type,parentSchema:schema19.properties.token,data:data0}];
return false;
}
}
}
}
}
}
else {
validate41.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.type,parentSchema:schema19,data}];
return false;
}
}
validate41.errors = vErrors;
return errors === 0;
}

export const UpstreamManualRequest = validate42;
const schema20 = {"title":"UpstreamManualRequest","description":"Body of POST /admin/upstreams/{name}/manual.","type":"object","additionalProperties":false,"required":["mode","expires_in_seconds","reason"],"properties":{"mode":{"description":"What.","$ref":"#/definitions/ManualMode"},"expires_in_seconds":{"description":"After which it ends by itself; up to 7 days.","type":"integer","minimum":1,"maximum":604800},"reason":{"description":"For those who find it.","type":"string","minLength":1,"maxLength":500}}};
const schema21 = {"title":"ManualMode","description":"drain: no new requests, running ones finish; open: as an open breaker; close: tried whatever its breaker has counted.","enum":["drain","open","close"]};

function validate43(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(((data === "drain") || (data === "open")) || (data === "close"))){
validate43.errors = [{instancePath,schemaPath:"#/enum",keyword:"enum",params:{allowedValues: schema21.enum},message:"must be equal to one of the allowed values",schema:schema21.enum,parentSchema:schema21,data}];
return false;
}
validate43.errors = vErrors;
return errors === 0;
}


function validate42(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.mode === undefined) && (missing0 = "mode")) || ((data.expires_in_seconds === undefined) && (missing0 = "expires_in_seconds"))) || ((data.reason === undefined) && (missing0 = "reason"))){
validate42.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema20.required,parentSchema:schema20,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(((key0 === "mode") || (key0 === "expires_in_seconds")) || (key0 === "reason"))){
validate42.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema20,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.mode !== undefined){
const _errs2 = errors;
if(!(validate43(data.mode, {instancePath:instancePath+"/mode",parentData:data,parentDataProperty:"mode",rootData}))){
vErrors = vErrors === null ? validate43.errors : vErrors.concat(validate43.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expires_in_seconds !== undefined){
let data1 = data.expires_in_seconds;
const _errs3 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
validate42.errors = [{instancePath:instancePath+"/expires_in_seconds",schemaPath:"#/properties/expires_in_seconds/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema20.properties.expires_in_seconds.type,parentSchema:schema20.properties.expires_in_seconds,data:data1}];
return false;
}
if(errors === _errs3){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 604800 || isNaN(data1)){
validate42.errors = [{instancePath:instancePath+"/expires_in_seconds",schemaPath:"#/properties/expires_in_seconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 604800},message:"must be <= 604800",schema:604800,parentSchema:schema20.properties.expires_in_seconds,data:data1}];
return false;
}
else {
if(data1 < 1 || isNaN(data1)){
validate42.errors = [{instancePath:instancePath+"/expires_in_seconds",schemaPath:"#/properties/expires_in_seconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema20.properties.expires_in_seconds,data:data1}];
return false;
}
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
let data2 = data.reason;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 === "string"){
if(!func2(data2, 0)){
validate42.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema20.properties.reason,data:data2}];
return false;
}
else {
if(func2(data2, 500)){
validate42.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:500,parentSchema:schema20.properties.reason,data:data2}];
return false;
}
}
}
else {
validate42.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema20.properties.reason.type,parentSchema:schema20.properties.reason,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
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
validate42.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema20.type,parentSchema:schema20,data}];
return false;
}
}
validate42.errors = vErrors;
return errors === 0;
}

export const AdminUserQuery = validate45;
const schema22 = {"title":"AdminUserQuery","description":"Parameters of GET /admin/users.","type":"object","additionalProperties":false,"required":[],"properties":{"search":{"description":"An id, or how an address begins.","type":"string","minLength":1,"maxLength":254},"tier":{"description":"Only users on this plan.","type":"string","minLength":1,"maxLength":64},"disabled":{"description":"Only those that are disabled, or that are not.","type":"boolean"},"limit":{"description":"Entries of a page; 50 when absent.","$ref":"#/definitions/PageLimit"},"cursor":{"description":"From next_cursor of the page before.","$ref":"#/definitions/PageCursor"}}};

function validate45(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(((((key0 === "search") || (key0 === "tier")) || (key0 === "disabled")) || (key0 === "limit")) || (key0 === "cursor"))){
validate45.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema22,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.search !== undefined){
let data0 = data.search;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate45.errors = [{instancePath:instancePath+"/search",schemaPath:"#/properties/search/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema22.properties.search,data:data0}];
return false;
}
else {
if(func2(data0, 254)){
validate45.errors = [{instancePath:instancePath+"/search",schemaPath:"#/properties/search/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:254,parentSchema:schema22.properties.search,data:data0}];
return false;
}
}
}
else {
validate45.errors = [{instancePath:instancePath+"/search",schemaPath:"#/properties/search/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema22.properties.search.type,parentSchema:schema22.properties.search,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tier !== undefined){
let data1 = data.tier;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate45.errors = [{instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema22.properties.tier,data:data1}];
return false;
}
else {
if(func2(data1, 64)){
validate45.errors = [{instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:64,parentSchema:schema22.properties.tier,data:data1}];
return false;
}
}
}
else {
validate45.errors = [{instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema22.properties.tier.type,parentSchema:schema22.properties.tier,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.disabled !== undefined){
let data2 = data.disabled;
const _errs6 = errors;
if(typeof data2 !== "boolean"){
validate45.errors = [{instancePath:instancePath+"/disabled",schemaPath:"#/properties/disabled/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema22.properties.disabled.type,parentSchema:schema22.properties.disabled,data:data2}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limit !== undefined){
const _errs8 = errors;
if(!(validate23(data.limit, {instancePath:instancePath+"/limit",parentData:data,parentDataProperty:"limit",rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cursor !== undefined){
const _errs9 = errors;
if(!(validate25(data.cursor, {instancePath:instancePath+"/cursor",parentData:data,parentDataProperty:"cursor",rootData}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
}
var valid0 = _errs9 === errors;
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
validate45.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema22.type,parentSchema:schema22,data}];
return false;
}
}
validate45.errors = vErrors;
return errors === 0;
}

export const NewUserRequest = validate48;
const schema23 = {"title":"NewUserRequest","description":"Body of POST /admin/users.","type":"object","additionalProperties":false,"required":["email"],"properties":{"email":{"description":"Address; nobody else has it.","type":"string","minLength":1,"maxLength":254},"plan_tier":{"description":"auth.signup.tier when absent.","type":"string","minLength":1,"maxLength":64},"credits":{"description":"Not negative; auth.signup.credits when absent.","type":["number","string"]}}};

function validate48(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.email === undefined) && (missing0 = "email")){
validate48.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema23.required,parentSchema:schema23,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(((key0 === "email") || (key0 === "plan_tier")) || (key0 === "credits"))){
validate48.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema23,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.email !== undefined){
let data0 = data.email;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate48.errors = [{instancePath:instancePath+"/email",schemaPath:"#/properties/email/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema23.properties.email,data:data0}];
return false;
}
else {
if(func2(data0, 254)){
validate48.errors = [{instancePath:instancePath+"/email",schemaPath:"#/properties/email/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:254,parentSchema:schema23.properties.email,data:data0}];
return false;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/email",schemaPath:"#/properties/email/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema23.properties.email.type,parentSchema:schema23.properties.email,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.plan_tier !== undefined){
let data1 = data.plan_tier;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate48.errors = [{instancePath:instancePath+"/plan_tier",schemaPath:"#/properties/plan_tier/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema23.properties.plan_tier,data:data1}];
return false;
}
else {
if(func2(data1, 64)){
validate48.errors = [{instancePath:instancePath+"/plan_tier",schemaPath:"#/properties/plan_tier/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:64,parentSchema:schema23.properties.plan_tier,data:data1}];
return false;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/plan_tier",schemaPath:"#/properties/plan_tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema23.properties.plan_tier.type,parentSchema:schema23.properties.plan_tier,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.credits !== undefined){
let data2 = data.credits;
const _errs6 = errors;
if((!((typeof data2 == "number") && (isFinite(data2)))) && (typeof data2 !== "string")){
validate48.errors = [{instancePath:instancePath+"/credits",schemaPath:"#/properties/credits/type",keyword:"type",params:{type: schema23.properties.credits.type},message:"must be number,string",schema:schema23.properties.credits.type,parentSchema:schema23.properties.credits,data:data2}];
return false;
}
var valid0 = _errs6 === errors;
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
validate48.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema23.type,parentSchema:schema23,data}];
return false;
}
}
validate48.errors = vErrors;
return errors === 0;
}

export const UserChangeRequest = validate49;
const schema24 = {"title":"UserChangeRequest","description":"Body of PATCH /admin/users/{user_id}.","type":"object","additionalProperties":false,"required":[],"properties":{"plan_tier":{"description":"One of the configuration.","type":"string","minLength":1,"maxLength":64},"disabled":{"description":"Whether keys and tokens are to stop.","type":"boolean"}}};

function validate49(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!((key0 === "plan_tier") || (key0 === "disabled"))){
validate49.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema24,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.plan_tier !== undefined){
let data0 = data.plan_tier;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate49.errors = [{instancePath:instancePath+"/plan_tier",schemaPath:"#/properties/plan_tier/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema24.properties.plan_tier,data:data0}];
return false;
}
else {
if(func2(data0, 64)){
validate49.errors = [{instancePath:instancePath+"/plan_tier",schemaPath:"#/properties/plan_tier/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:64,parentSchema:schema24.properties.plan_tier,data:data0}];
return false;
}
}
}
else {
validate49.errors = [{instancePath:instancePath+"/plan_tier",schemaPath:"#/properties/plan_tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema24.properties.plan_tier.type,parentSchema:schema24.properties.plan_tier,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.disabled !== undefined){
let data1 = data.disabled;
const _errs4 = errors;
if(typeof data1 !== "boolean"){
validate49.errors = [{instancePath:instancePath+"/disabled",schemaPath:"#/properties/disabled/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema24.properties.disabled.type,parentSchema:schema24.properties.disabled,data:data1}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate49.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema24.type,parentSchema:schema24,data}];
return false;
}
}
validate49.errors = vErrors;
return errors === 0;
}

export const CreditsRequest = validate50;
const schema25 = {"title":"CreditsRequest","description":"Body of POST /admin/users/{user_id}/credits.","type":"object","additionalProperties":false,"required":["amount","reason"],"properties":{"amount":{"description":"What is given; negative: taken. Of a string no place is lost.","type":["number","string"]},"reason":{"description":"Why; kept with the grant.","type":"string","minLength":1,"maxLength":500}}};

function validate50(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.amount === undefined) && (missing0 = "amount")) || ((data.reason === undefined) && (missing0 = "reason"))){
validate50.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema25.required,parentSchema:schema25,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!((key0 === "amount") || (key0 === "reason"))){
validate50.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema25,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.amount !== undefined){
let data0 = data.amount;
const _errs2 = errors;
if((!((typeof data0 == "number") && (isFinite(data0)))) && (typeof data0 !== "string")){
validate50.errors = [{instancePath:instancePath+"/amount",schemaPath:"#/properties/amount/type",keyword:"type",params:{type: schema25.properties.amount.type},message:"must be number,string",schema:schema25.properties.amount.type,parentSchema:schema25.properties.amount,data:data0}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reason !== undefined){
let data1 = data.reason;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!func2(data1, 0)){
validate50.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema25.properties.reason,data:data1}];
return false;
}
else {
if(func2(data1, 500)){
validate50.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:500,parentSchema:schema25.properties.reason,data:data1}];
return false;
}
}
}
else {
validate50.errors = [{instancePath:instancePath+"/reason",schemaPath:"#/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema25.properties.reason.type,parentSchema:schema25.properties.reason,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate50.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema25.type,parentSchema:schema25,data}];
return false;
}
}
validate50.errors = vErrors;
return errors === 0;
}

export const CreditGrantQuery = validate51;
const schema26 = {"title":"CreditGrantQuery","description":"Parameters of GET /admin/users/{user_id}/credits.","type":"object","additionalProperties":false,"required":[],"properties":{"limit":{"description":"Entries of a page; 50 when absent.","$ref":"#/definitions/PageLimit"},"cursor":{"description":"From next_cursor of the page before.","$ref":"#/definitions/PageCursor"}}};

function validate51(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!((key0 === "limit") || (key0 === "cursor"))){
validate51.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema26,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.limit !== undefined){
const _errs2 = errors;
if(!(validate23(data.limit, {instancePath:instancePath+"/limit",parentData:data,parentDataProperty:"limit",rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cursor !== undefined){
const _errs3 = errors;
if(!(validate25(data.cursor, {instancePath:instancePath+"/cursor",parentData:data,parentDataProperty:"cursor",rootData}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
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
validate51.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.type,parentSchema:schema26,data}];
return false;
}
}
validate51.errors = vErrors;
return errors === 0;
}

export const AdminKeyRequest = validate54;
const schema27 = {"title":"AdminKeyRequest","description":"Body of POST /admin/users/{user_id}/keys.","type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"description":"Label, not blank.","type":"string","minLength":1,"maxLength":200},"expires_in":{"description":"Seconds until it ends, or a time such as 12h or 30d.","type":["integer","string","null"]},"expires_at":{"description":"In place of expires_in: when the key ends, in RFC 3339.","type":["string","null"]},"models":{"description":"The only models that it may call; * matches any text.","type":["array","null"],"items":{"type":"string"}},"budget":{"description":"amount and per: what its requests may cost together in a day, a month, or in total.","type":["object","null"],"additionalProperties":true},"tags":{"description":"Marks of its requests in log and ledger.","type":["object","null"],"additionalProperties":{"type":"string"}},"scopes":{"description":"What it may be used for: inference endpoints, reading what was used; without them both.","type":["array","null"],"items":{"enum":["inference","usage"]}},"addresses":{"description":"The only addresses and networks (CIDR) that it may be used from.","type":["array","null"],"items":{"type":"string"}}}};

function validate54(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.name === undefined) && (missing0 = "name")){
validate54.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema27.required,parentSchema:schema27,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!((((((((key0 === "name") || (key0 === "expires_in")) || (key0 === "expires_at")) || (key0 === "models")) || (key0 === "budget")) || (key0 === "tags")) || (key0 === "scopes")) || (key0 === "addresses"))){
validate54.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema27,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.name !== undefined){
let data0 = data.name;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate54.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema27.properties.name,data:data0}];
return false;
}
else {
if(func2(data0, 200)){
validate54.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:200,parentSchema:schema27.properties.name,data:data0}];
return false;
}
}
}
else {
validate54.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.name.type,parentSchema:schema27.properties.name,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expires_in !== undefined){
let data1 = data.expires_in;
const _errs4 = errors;
if(((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")) && (data1 !== null)){
validate54.errors = [{instancePath:instancePath+"/expires_in",schemaPath:"#/properties/expires_in/type",keyword:"type",params:{type: schema27.properties.expires_in.type},message:"must be integer,string,null",schema:schema27.properties.expires_in.type,parentSchema:schema27.properties.expires_in,data:data1}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expires_at !== undefined){
let data2 = data.expires_at;
const _errs6 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate54.errors = [{instancePath:instancePath+"/expires_at",schemaPath:"#/properties/expires_at/type",keyword:"type",params:{type: schema27.properties.expires_at.type},message:"must be string,null",schema:schema27.properties.expires_at.type,parentSchema:schema27.properties.expires_at,data:data2}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.models !== undefined){
let data3 = data.models;
const _errs8 = errors;
if((!(Array.isArray(data3))) && (data3 !== null)){
validate54.errors = [{instancePath:instancePath+"/models",schemaPath:"#/properties/models/type",keyword:"type",params:{type: schema27.properties.models.type},message:"must be array,null",schema:schema27.properties.models.type,parentSchema:schema27.properties.models,data:data3}];
return false;
}
if(errors === _errs8){
if(Array.isArray(data3)){
var valid1 = true;
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
let data4 = data3[i0];
const _errs10 = errors;
if(typeof data4 !== "string"){
validate54.errors = [{instancePath:instancePath+"/models/" + i0,schemaPath:"#/properties/models/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.models.items.type,parentSchema:schema27.properties.models.items,data:data4}];
return false;
}
var valid1 = _errs10 === errors;
if(!valid1){
break;
}
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.budget !== undefined){
let data5 = data.budget;
const _errs12 = errors;
if((!(data5 && typeof data5 == "object" && !Array.isArray(data5))) && (data5 !== null)){
validate54.errors = [{instancePath:instancePath+"/budget",schemaPath:"#/properties/budget/type",keyword:"type",params:{type: schema27.properties.budget.type},message:"must be object,null",schema:schema27.properties.budget.type,parentSchema:schema27.properties.budget,data:data5}];
return false;
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tags !== undefined){
let data6 = data.tags;
const _errs15 = errors;
if((!(data6 && typeof data6 == "object" && !Array.isArray(data6))) && (data6 !== null)){
validate54.errors = [{instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/type",keyword:"type",params:{type: schema27.properties.tags.type},message:"must be object,null",schema:schema27.properties.tags.type,parentSchema:schema27.properties.tags,data:data6}];
return false;
}
if(errors === _errs15){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
for(const key1 in data6){
let data7 = data6[key1];
const _errs18 = errors;
if(typeof data7 !== "string"){
validate54.errors = [{instancePath:instancePath+"/tags/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/tags/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.tags.additionalProperties.type,parentSchema:schema27.properties.tags.additionalProperties,data:data7}];
return false;
}
var valid2 = _errs18 === errors;
if(!valid2){
break;
}
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.scopes !== undefined){
let data8 = data.scopes;
const _errs20 = errors;
if((!(Array.isArray(data8))) && (data8 !== null)){
validate54.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/type",keyword:"type",params:{type: schema27.properties.scopes.type},message:"must be array,null",schema:schema27.properties.scopes.type,parentSchema:schema27.properties.scopes,data:data8}];
return false;
}
if(errors === _errs20){
if(Array.isArray(data8)){
var valid3 = true;
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
let data9 = data8[i1];
const _errs22 = errors;
if(!((data9 === "inference") || (data9 === "usage"))){
validate54.errors = [{instancePath:instancePath+"/scopes/" + i1,schemaPath:"#/properties/scopes/items/enum",keyword:"enum",params:{allowedValues: schema27.properties.scopes.items.enum},message:"must be equal to one of the allowed values",schema:schema27.properties.scopes.items.enum,parentSchema:schema27.properties.scopes.items,data:data9}];
return false;
}
var valid3 = _errs22 === errors;
if(!valid3){
break;
}
}
}
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.addresses !== undefined){
let data10 = data.addresses;
const _errs23 = errors;
if((!(Array.isArray(data10))) && (data10 !== null)){
validate54.errors = [{instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/type",keyword:"type",params:{type: schema27.properties.addresses.type},message:"must be array,null",schema:schema27.properties.addresses.type,parentSchema:schema27.properties.addresses,data:data10}];
return false;
}
if(errors === _errs23){
if(Array.isArray(data10)){
var valid4 = true;
const len2 = data10.length;
for(let i2=0; i2<len2; i2++){
let data11 = data10[i2];
const _errs25 = errors;
if(typeof data11 !== "string"){
validate54.errors = [{instancePath:instancePath+"/addresses/" + i2,schemaPath:"#/properties/addresses/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.addresses.items.type,parentSchema:schema27.properties.addresses.items,data:data11}];
return false;
}
var valid4 = _errs25 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs23 === errors;
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
else {
validate54.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema27.type,parentSchema:schema27,data}];
return false;
}
}
validate54.errors = vErrors;
return errors === 0;
}

export const AdminKeyChangeRequest = validate55;
const schema28 = {"title":"AdminKeyChangeRequest","description":"Body of PATCH /admin/keys/{key_id}: what is absent stays, null takes a limit away.","type":"object","additionalProperties":false,"required":[],"properties":{"name":{"description":"Label, not blank.","type":"string","minLength":1,"maxLength":200},"expires_in":{"description":"Seconds until it ends, or a time such as 12h or 30d.","type":["integer","string","null"]},"expires_at":{"description":"In place of expires_in: when the key ends, in RFC 3339.","type":["string","null"]},"models":{"description":"The only models that it may call; * matches any text.","type":["array","null"],"items":{"type":"string"}},"budget":{"description":"amount and per: what its requests may cost together in a day, a month, or in total.","type":["object","null"],"additionalProperties":true},"tags":{"description":"Marks of its requests in log and ledger.","type":["object","null"],"additionalProperties":{"type":"string"}},"scopes":{"description":"What it may be used for: inference endpoints, reading what was used; without them both.","type":["array","null"],"items":{"enum":["inference","usage"]}},"addresses":{"description":"The only addresses and networks (CIDR) that it may be used from.","type":["array","null"],"items":{"type":"string"}}}};

function validate55(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!((((((((key0 === "name") || (key0 === "expires_in")) || (key0 === "expires_at")) || (key0 === "models")) || (key0 === "budget")) || (key0 === "tags")) || (key0 === "scopes")) || (key0 === "addresses"))){
validate55.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema28,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.name !== undefined){
let data0 = data.name;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!func2(data0, 0)){
validate55.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/minLength",keyword:"minLength",params:{},message:"must pass \"minLength\" keyword validation",schema:1,parentSchema:schema28.properties.name,data:data0}];
return false;
}
else {
if(func2(data0, 200)){
validate55.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{},message:"must pass \"maxLength\" keyword validation",schema:200,parentSchema:schema28.properties.name,data:data0}];
return false;
}
}
}
else {
validate55.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.name.type,parentSchema:schema28.properties.name,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expires_in !== undefined){
let data1 = data.expires_in;
const _errs4 = errors;
if(((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")) && (data1 !== null)){
validate55.errors = [{instancePath:instancePath+"/expires_in",schemaPath:"#/properties/expires_in/type",keyword:"type",params:{type: schema28.properties.expires_in.type},message:"must be integer,string,null",schema:schema28.properties.expires_in.type,parentSchema:schema28.properties.expires_in,data:data1}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expires_at !== undefined){
let data2 = data.expires_at;
const _errs6 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate55.errors = [{instancePath:instancePath+"/expires_at",schemaPath:"#/properties/expires_at/type",keyword:"type",params:{type: schema28.properties.expires_at.type},message:"must be string,null",schema:schema28.properties.expires_at.type,parentSchema:schema28.properties.expires_at,data:data2}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.models !== undefined){
let data3 = data.models;
const _errs8 = errors;
if((!(Array.isArray(data3))) && (data3 !== null)){
validate55.errors = [{instancePath:instancePath+"/models",schemaPath:"#/properties/models/type",keyword:"type",params:{type: schema28.properties.models.type},message:"must be array,null",schema:schema28.properties.models.type,parentSchema:schema28.properties.models,data:data3}];
return false;
}
if(errors === _errs8){
if(Array.isArray(data3)){
var valid1 = true;
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
let data4 = data3[i0];
const _errs10 = errors;
if(typeof data4 !== "string"){
validate55.errors = [{instancePath:instancePath+"/models/" + i0,schemaPath:"#/properties/models/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.models.items.type,parentSchema:schema28.properties.models.items,data:data4}];
return false;
}
var valid1 = _errs10 === errors;
if(!valid1){
break;
}
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.budget !== undefined){
let data5 = data.budget;
const _errs12 = errors;
if((!(data5 && typeof data5 == "object" && !Array.isArray(data5))) && (data5 !== null)){
validate55.errors = [{instancePath:instancePath+"/budget",schemaPath:"#/properties/budget/type",keyword:"type",params:{type: schema28.properties.budget.type},message:"must be object,null",schema:schema28.properties.budget.type,parentSchema:schema28.properties.budget,data:data5}];
return false;
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tags !== undefined){
let data6 = data.tags;
const _errs15 = errors;
if((!(data6 && typeof data6 == "object" && !Array.isArray(data6))) && (data6 !== null)){
validate55.errors = [{instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/type",keyword:"type",params:{type: schema28.properties.tags.type},message:"must be object,null",schema:schema28.properties.tags.type,parentSchema:schema28.properties.tags,data:data6}];
return false;
}
if(errors === _errs15){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
for(const key1 in data6){
let data7 = data6[key1];
const _errs18 = errors;
if(typeof data7 !== "string"){
validate55.errors = [{instancePath:instancePath+"/tags/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/tags/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.tags.additionalProperties.type,parentSchema:schema28.properties.tags.additionalProperties,data:data7}];
return false;
}
var valid2 = _errs18 === errors;
if(!valid2){
break;
}
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.scopes !== undefined){
let data8 = data.scopes;
const _errs20 = errors;
if((!(Array.isArray(data8))) && (data8 !== null)){
validate55.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/type",keyword:"type",params:{type: schema28.properties.scopes.type},message:"must be array,null",schema:schema28.properties.scopes.type,parentSchema:schema28.properties.scopes,data:data8}];
return false;
}
if(errors === _errs20){
if(Array.isArray(data8)){
var valid3 = true;
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
let data9 = data8[i1];
const _errs22 = errors;
if(!((data9 === "inference") || (data9 === "usage"))){
validate55.errors = [{instancePath:instancePath+"/scopes/" + i1,schemaPath:"#/properties/scopes/items/enum",keyword:"enum",params:{allowedValues: schema28.properties.scopes.items.enum},message:"must be equal to one of the allowed values",schema:schema28.properties.scopes.items.enum,parentSchema:schema28.properties.scopes.items,data:data9}];
return false;
}
var valid3 = _errs22 === errors;
if(!valid3){
break;
}
}
}
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.addresses !== undefined){
let data10 = data.addresses;
const _errs23 = errors;
if((!(Array.isArray(data10))) && (data10 !== null)){
validate55.errors = [{instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/type",keyword:"type",params:{type: schema28.properties.addresses.type},message:"must be array,null",schema:schema28.properties.addresses.type,parentSchema:schema28.properties.addresses,data:data10}];
return false;
}
if(errors === _errs23){
if(Array.isArray(data10)){
var valid4 = true;
const len2 = data10.length;
for(let i2=0; i2<len2; i2++){
let data11 = data10[i2];
const _errs25 = errors;
if(typeof data11 !== "string"){
validate55.errors = [{instancePath:instancePath+"/addresses/" + i2,schemaPath:"#/properties/addresses/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.addresses.items.type,parentSchema:schema28.properties.addresses.items,data:data11}];
return false;
}
var valid4 = _errs25 === errors;
if(!valid4){
break;
}
}
}
}
var valid0 = _errs23 === errors;
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
validate55.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema28.type,parentSchema:schema28,data}];
return false;
}
}
validate55.errors = vErrors;
return errors === 0;
}

export const AdminKeyRollRequest = validate56;
const schema29 = {"title":"AdminKeyRollRequest","description":"Body of POST /admin/keys/{key_id}/roll.","type":"object","additionalProperties":false,"required":[],"properties":{"grace":{"description":"For how long the old key still serves: seconds, or a time such as 24h; 0 ends it at once; 24h when absent.","type":["integer","string","null"]}}};

function validate56(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(key0 === "grace")){
validate56.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema29,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.grace !== undefined){
let data0 = data.grace;
if(((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")) && (data0 !== null)){
validate56.errors = [{instancePath:instancePath+"/grace",schemaPath:"#/properties/grace/type",keyword:"type",params:{type: schema29.properties.grace.type},message:"must be integer,string,null",schema:schema29.properties.grace.type,parentSchema:schema29.properties.grace,data:data0}];
return false;
}
}
}
}
else {
validate56.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema29.type,parentSchema:schema29,data}];
return false;
}
}
validate56.errors = vErrors;
return errors === 0;
}

export const validators = { AuditQuery, RollbackRequest, ConfigurationDiffQuery, ExplainRequest, LedgerQuery, LedgerExportQuery, UsageQuery, AdminSessionRequest, UpstreamManualRequest, AdminUserQuery, NewUserRequest, UserChangeRequest, CreditsRequest, CreditGrantQuery, AdminKeyRequest, AdminKeyChangeRequest, AdminKeyRollRequest };
export const parameters = {"AuditQuery":{"limit":"integer","cursor":"string"},"ConfigurationDiffQuery":{"from":"string","to":"string"},"LedgerQuery":{"user":"string","key":"string","model":"string","upstream":"string","outcome":"string","tag":"string","request_id":"string","from":"string","to":"string","limit":"integer","cursor":"string"},"LedgerExportQuery":{"format":"string","user":"string","key":"string","model":"string","upstream":"string","outcome":"string","tag":"string","request_id":"string","from":"string","to":"string"},"UsageQuery":{"per":"string","by":"string","from":"string","to":"string","user":"string","key":"string","model":"string","upstream":"string","limit":"integer","cursor":"string"},"AdminUserQuery":{"search":"string","tier":"string","disabled":"boolean","limit":"integer","cursor":"string"},"CreditGrantQuery":{"limit":"integer","cursor":"string"}};
